#include "apps/weir/options/environment.h"

#include <cstdlib>

namespace weir {

std::optional<std::string> environment(const std::string& name) {
  const char* const value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): nobody changes it
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

}  // namespace weir
