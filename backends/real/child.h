// Processes that end with the one that made them.
#pragma once

#include <sys/types.h>

namespace weir::real {

/// As fork(), but the child is killed once this process has ended, however it does. For a caller that lives
/// as long as its process: the thread that forks is what the child's life hangs on.
pid_t fork_child();

}  // namespace weir::real
