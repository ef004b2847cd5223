// The kernel namespaces that form a lab, held by open files. Once no process and no file holds them any more,
// the kernel removes them with all their content. So nothing has to clean up.
#pragma once

#include <sys/types.h>

#include <functional>
#include <vector>

#include "backends/real/process/descriptor.h"
#include "core/base/ids.h"
#include "core/base/result.h"

namespace weir::real {

struct Namespaces {
  Descriptor user;     // its root may change the others; the process's own if it is root
  Descriptor mount;    // the lab's files, with a /proc of its own where allowed
  Descriptor process;  // all processes of the lab, which die with the first
  Descriptor keeper;   // the process (pidfd) that keeps the lab up
  Descriptor groups;   // folder of the machines' control groups (cpu_shares.h); none if not allowed
  Descriptor guard;    // the process (pidfd) that removes that folder
  std::vector<Descriptor> machines;  // networks
};

/// A namespace of the calling process: "user", "mnt", "pid", "net".
Descriptor own_namespace(const char* kind);

/// Gives this process the files and network of the machine, but leaves its control group. Call it from a
/// process with one thread. If it fails halfway, the process keeps what it has entered.
Result<void> enter(const Namespaces& namespaces, MachineId machine);

/// A new process on the machine, a child of this one, which runs the body and ends with its result. It dies
/// with the lab. Locks that other threads of this process hold stay locked there.
Result<pid_t> start_in(const Namespaces& namespaces, MachineId machine, const std::function<int()>& body);

/// Forks the calling process, which must have one thread, so that the new process is its sibling: a child of
/// its parent. Returns 0 in the new process, -1 on failure.
pid_t fork_sibling();

/// Opens a handle (pidfd) that becomes readable when the process has ended.
Descriptor handle_of(pid_t process);

}  // namespace weir::real
