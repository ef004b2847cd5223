// What calls of a training session return.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace weir::real {

/// Why a call failed. frontends/c/weir.h explains each.
enum class SessionStatus { kOk = 0, kInvalid, kState, kMismatch, kLost, kTimeout, kSystem };

struct SessionError {
  SessionStatus status = SessionStatus::kSystem;
  std::string text;
};
template <class T>
using Outcome = tl::expected<T, SessionError>;

inline tl::unexpected<SessionError> refusal(SessionStatus status, std::string text) {
  return tl::unexpected(SessionError{status, std::move(text)});
}

}  // namespace weir::real
