// A process that cleans up after another one, however that one ends. A killed process cannot do so itself.
#pragma once

#include <sys/types.h>

#include <functional>

#include "backends/real/process/descriptor.h"
#include "core/base/result.h"
#include "core/base/units.h"

namespace weir::real {

/// A resource that can be moved.
struct Guard {
  pid_t process = -1;  // a child of its maker
  Descriptor pipe;     // every process that holds a copy is guarded
};

/// Starts a process that runs `duty` once no process has the pipe open any more, and then ends. It ignores
/// signals, is in its own process group and in the folder "/", and has nothing else open. Start it before
/// making what it is to clean up. If the calling process has threads, `duty` may only make system calls and
/// take memory. Fails if the system cannot start the process.
Result<Guard> stand_guard(const std::function<void()>& duty);

/// Closes this process's copy of the pipe and waits for the guard to end; false if it does not in this time.
/// Call it from the process that made the guard.
bool relieve(Guard& guard, Duration patience);

}  // namespace weir::real
