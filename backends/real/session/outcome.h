// What calls of a training session come to.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace weir::real {

/// Why a call has failed; frontends/c/weir.h says what each means.
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
