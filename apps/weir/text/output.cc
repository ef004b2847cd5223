#include "apps/weir/text/output.h"

#include <poll.h>
#include <unistd.h>

namespace weir {
namespace {

bool reader_left() {
  pollfd output = {STDOUT_FILENO, POLLOUT, 0};
  return poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

}  // namespace

ExitStatus flushed(ExitStatus status) {
  const bool lost = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  if (!lost || reader_left()) return status;
  print_error("weir: the standard output cannot be written\n");
  return status == kExitWell ? kExitFailed : status;
}

}  // namespace weir
