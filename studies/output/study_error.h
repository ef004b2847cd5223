// Why a study has no result. The cause says whether the caller must fix its input or something failed.
// Commands have an exit status for each cause, and a language binding an exception.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "core/base/result.h"

namespace weir {

struct StudyError {
  enum class Cause {
    kInput,   // a file or a setting is wrong; nothing was run
    kFailed,  // a run or a plan failed, or a file cannot be written
  };
  /// Any other error means that something failed.
  StudyError(Error error) : text(std::move(error.text)) {}  // NOLINT(google-explicit-constructor)
  StudyError(Cause why, std::string words) : cause(why), text(std::move(words)) {}

  Cause cause = Cause::kFailed;
  std::string text;
};

/// A study's result, or why it has none.
template <class T>
class [[nodiscard]] Studied : public tl::expected<T, StudyError> {
 public:
  using tl::expected<T, StudyError>::expected;
};

/// The result of a study whose input has this error; converts to any Studied.
inline tl::unexpected<StudyError> wrong_input(Error error) {
  return tl::unexpected<StudyError>(StudyError(StudyError::Cause::kInput, std::move(error.text)));
}
inline tl::unexpected<StudyError> wrong_input(std::string text) {
  return wrong_input(Error{std::move(text)});
}

}  // namespace weir
