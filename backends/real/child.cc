#include "backends/real/child.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>

namespace weir::real {

pid_t fork_child() {
  const pid_t parent = ::getpid();
  const pid_t process = ::fork();
  if (process != 0) return process;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // it ended before that
  return 0;
}

}  // namespace weir::real
