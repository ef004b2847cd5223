// The namespaces of the kernel's that are a lab, held by open files: the kernel removes them, and all that is
// in them, once no process and no file holds them any more. So nothing has to clean up, and nothing can
// forget to.
#pragma once

#include <sys/types.h>

#include <functional>
#include <vector>

#include "backends/real/process/descriptor.h"
#include "core/base/ids.h"
#include "core/base/result.h"

namespace weir::real {

struct Namespaces {
  Descriptor user;     // whose root may change the others; the process's own if it is root itself
  Descriptor mount;    // the process's files, with a /proc of its own where that is allowed
  Descriptor process;  // every process of the lab: all die with its first
  Descriptor keeper;   // the process (pidfd) that must live for the lab to be up
  Descriptor groups;   // the folder of the machines' control groups (cpu_shares.h); none where not allowed
  Descriptor guard;    // the process (pidfd) that removes that folder
  std::vector<Descriptor> machines;  // networks
};

/// Of the calling process: "user", "mnt", "pid", "net".
Descriptor own_namespace(const char* kind);

/// Makes this process's files and network those of the machine, and leaves it in the control group where it
/// is. To be called from a process with one thread, which it leaves with the machine's even if it fails
/// halfway.
Result<void> enter(const Namespaces& namespaces, MachineId machine);

/// A new process in the machine, a child of this one, that runs the body and ends with what that returns. It
/// dies with the lab. What the body finds locked by other threads of this process stays locked.
Result<pid_t> start_in(const Namespaces& namespaces, MachineId machine, const std::function<int()>& body);

/// Forks the calling process, which must have one thread, such that the new process is a sibling, a child of
/// the caller's parent. 0 in the new process, -1 if there is none.
pid_t fork_sibling();

/// Opens a handle (pidfd) that can be read once the process has ended.
Descriptor handle_of(pid_t process);

}  // namespace weir::real
