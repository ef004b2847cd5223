// Processes that end with the one that made them.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/units.h"

namespace weir::real {

/// As fork(), but the child is killed once this process has ended, however it does. For a caller that lives
/// as long as its process: the thread that forks is what the child's life hangs on.
pid_t fork_child();

/// Waits for this child to end: its status as waitpid() gives it, -1 if it is no child of this process; none
/// if it is still there at that instant.
std::optional<int> wait_for_child(pid_t process, Instant until);

/// Waits for all these children, each of which does `what`, to end well. Fails if one does not, or is still
/// there after so long, stopped for instance; those that are left are killed then.
Result<void> wait_for_children(const std::vector<pid_t>& processes, const std::string& what,
                               Duration patience);

}  // namespace weir::real
