#include "core/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace weir::internal {

void check_failed(const char* file, int line, const char* condition, const std::string& values) {
  fmt::print(stderr, "{}:{}: a bug in Weir: '{}' does not hold;{}\n", file, line, condition, values);
  std::fflush(stderr);
  std::abort();
}

}  // namespace weir::internal
