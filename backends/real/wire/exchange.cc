#include "backends/real/wire/exchange.h"

#include <poll.h>

#include "backends/real/process/clock.h"

namespace weir::real {

Result<void> Exchange::run(int connection, const Meeting& meeting, Instant until, const char* late) {
  constexpr int kSlice = 100;  // milliseconds, so that the deadline is checked
  while (gives() || takes()) {
    if (Clock::monotonic() > until) return failure(late);
    if (meeting.watch) {
      if (auto well = meeting.watch(); !well) return well;
    }
    pollfd one = {connection, 0, 0};
    if (gives()) one.events |= POLLOUT;
    if (takes()) one.events |= POLLIN;
    [[maybe_unused]] const int ready = ::poll(&one, 1, kSlice);
    if (auto given = give(); !given) return given;
    if (auto taken = take(); !taken) return taken;
  }
  return {};
}

}  // namespace weir::real
