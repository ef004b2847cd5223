// WEIR_CHECK states what must hold if the program is right. It is always on; a failure prints its values
// and aborts. Bad input is never a WEIR_CHECK: it is a Result (result.h).
#pragma once

#include <fmt/format.h>

#include <string>

namespace weir::internal {

[[noreturn]] void check_failed(const char* file, int line, const char* condition, const std::string& values);

inline std::string check_values() { return {}; }

template <class... Values>
std::string check_values(const Values&... values) {
  std::string text;
  ((text += fmt::format(" {}", values)), ...);
  return text;
}

}  // namespace weir::internal

// Aborts with the condition and the given values (anything that fmt prints) unless the condition holds.
#define WEIR_CHECK(condition, ...)                                      \
  (static_cast<bool>(condition)                                         \
       ? static_cast<void>(0)                                           \
       : ::weir::internal::check_failed(__FILE__, __LINE__, #condition, \
                                        ::weir::internal::check_values(__VA_ARGS__)))
