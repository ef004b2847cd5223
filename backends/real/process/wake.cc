#include "backends/real/process/wake.h"

#include <sys/eventfd.h>

#include <cerrno>
#include <cstdint>

#include "core/base/check.h"

namespace weir::real {

Descriptor make_wake() {
  Descriptor made(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  WEIR_CHECK(made.valid(), errno);
  return made;
}

void wake(const Descriptor& descriptor) {
  const std::uint64_t one = 1;
  // Full or interrupted: the thread is awake anyway.
  [[maybe_unused]] const auto written = ::write(descriptor.number(), &one, sizeof one);
}

void clear_wake(const Descriptor& descriptor) {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto got = ::read(descriptor.number(), &count, sizeof count);
}

}  // namespace weir::real
