#include "apps/weir/text/progress.h"

#include <unistd.h>

#include "apps/weir/text/output.h"

namespace weir {

Progress::Progress(std::size_t all) : all_(all), terminal_(isatty(STDERR_FILENO) != 0) { show(0); }

void Progress::show(std::size_t ended) const {
  constexpr std::size_t kTenths = 10;
  if (terminal_ && ended < all_) {
    print_error("{} of {} runs", ended, all_);
  } else if (!terminal_ && all_ >= 2 * kTenths && ended > 0 && ended < all_ &&
             ended * kTenths / all_ != (ended - 1) * kTenths / all_) {
    print_error("{} of {} runs\n", ended, all_);
  }
  std::fflush(stderr);
}

void Progress::clear() const {
  if (terminal_) print_error("\r\033[K");
  std::fflush(stderr);
}

}  // namespace weir
