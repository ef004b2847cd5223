// Why a study has no result: a caller fixes its input, or learns that something failed. Commands end with
// another status for each, and a binding raises another exception.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "core/base/result.h"

namespace weir {

struct StudyError {
  enum class Cause {
    kInput,   // a file or a setting is wrong; nothing has been run
    kFailed,  // a run or a plan failed, or a file cannot be written
  };
  /// Any other error says that something failed.
  StudyError(Error error) : text(std::move(error.text)) {}  // NOLINT(google-explicit-constructor)
  StudyError(Cause why, std::string words) : cause(why), text(std::move(words)) {}

  Cause cause = Cause::kFailed;
  std::string text;
};

/// What a study finds, or why it finds nothing.
template <class T>
class [[nodiscard]] Studied : public tl::expected<T, StudyError> {
 public:
  using tl::expected<T, StudyError>::expected;
};

/// The failed study whose input has this error; converts to any Studied.
inline tl::unexpected<StudyError> wrong_input(Error error) {
  return tl::unexpected<StudyError>(StudyError(StudyError::Cause::kInput, std::move(error.text)));
}
inline tl::unexpected<StudyError> wrong_input(std::string text) {
  return wrong_input(Error{std::move(text)});
}

}  // namespace weir
