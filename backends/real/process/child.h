// Processes that end with the one that made them.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/units.h"

namespace weir::real {

/// Like fork(), but the kernel kills the child when this process ends, however it ends. Call it from a thread
/// that lives as long as its process, since the child ends with the thread that forks it.
pid_t fork_child();

/// The status of this child, as from waitpid(): -1 if it is not a child of this process, none while it still
/// runs.
std::optional<int> wait_for_child(pid_t process, Instant until);

/// Waits for these children to end successfully. Each does `what`, which errors name. Fails if one does not,
/// or still runs after `patience` (it may be stopped). Then kills those that are left.
Result<void> wait_for_children(const std::vector<pid_t>& processes, const std::string& what,
                               Duration patience);

}  // namespace weir::real
