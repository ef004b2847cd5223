// A process that cleans up after another one, however that one ends: who is killed cannot do so itself.
#pragma once

#include <sys/types.h>

#include <functional>

#include "backends/real/process/descriptor.h"
#include "core/base/result.h"
#include "core/base/units.h"

namespace weir::real {

/// A resource that may change hands.
struct Guard {
  pid_t process = -1;  // a child of the process that made it
  Descriptor pipe;     // whoever holds a copy of it is guarded
};

/// Starts a process that does its duty once no process has the pipe open any more, and ends. It is deaf to
/// signals, stands in a process group of its own and in the folder "/", and has nothing else open. To be made
/// before what is to be cleaned up; may be called in a process with threads, and then the duty must do
/// nothing but make system calls and take memory. Fails if the system has no process for it.
Result<Guard> stand_guard(const std::function<void()>& duty);

/// Closes this process's copy of the pipe and waits up to so long for the guard to end; false if it has not
/// by then. To be called by the process that made it.
bool relieve(Guard& guard, Duration patience);

}  // namespace weir::real
