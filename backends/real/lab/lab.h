// A topology's cluster, emulated on one Linux host: a network namespace for each machine, and links between
// them shaped to the topology's rates. So plans for the cluster can be run and measured with real processes
// and real bytes, without the cluster.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/real/lab/holder.h"
#include "backends/real/lab/wiring.h"
#include "backends/real/process/guard.h"
#include "core/base/result.h"
#include "core/base/units.h"
#include "core/cluster/cluster.h"

namespace weir::real {

/// What to run on a machine.
struct Program {
  std::vector<std::string> arguments;    // the program first, searched in PATH
  std::vector<std::string> environment;  // "NAME=value", added to this process's
  int output = -1;                       // files of this process; -1: its own
  int error = -1;
};

/// The process that keeps a lab.
struct Keeper {
  pid_t process = -1;
  std::vector<std::string> networks;  // of each machine, for nsenter --net
  Result<std::string> shares;         // folder of the machines' control groups, or why none
};

/// A resource. Invariants:
/// * It changes neither the host's network nor its files nor another lab.
/// * Machines share CPU time in proportion to their cores, where control groups are allowed (cpu_shares.h).
/// * All of it ends with the object or with this process, however that ends: the machines' processes are
/// killed, the
///   kernel removes unused networks, and a guard removes control groups. Nothing is left to clean up.
/// * A kept lab outlives the process that made it, until down(). Objects that use it only add processes,
/// which end
///   with them.
/// Not thread-safe. Processes of machines are children of this process but belong to the lab: wait() for them
/// here.
class Lab {
 public:
  /// Whether such a cluster can be emulated at all; up() and the others check the same.
  static Result<void> check(const Cluster& cluster);
  /// Emulates the cluster as long as the object lives.
  static Result<std::unique_ptr<Lab>> up(const Cluster& cluster);
  /// Uses the kept lab with the cluster's name. Fails if there is none, or if it has another topology.
  static Result<std::unique_ptr<Lab>> join(const Cluster& cluster);

  /// Emulates the cluster until down(). Fails if this user already keeps a lab of that name.
  static Result<Keeper> keep(const Cluster& cluster);
  /// Whether this user keeps a lab of that name.
  static bool kept(const std::string& name);
  /// Ends the kept lab and all processes in it. Fails if there is none.
  static Result<void> down(const std::string& name);

  Lab(const Lab&) = delete;
  Lab& operator=(const Lab&) = delete;
  ~Lab();

  std::size_t machines() const { return held_.namespaces.machines.size(); }
  /// The IPv4 address of the machine's NIC within the lab.
  static std::string address(MachineId machine, int nic) { return lab_address(machine, nic); }

  /// Runs a program on the machine, in a new session and without input. Also fails if the program cannot be
  /// executed.
  Result<pid_t> spawn(MachineId machine, const Program& program);
  /// Runs a function in a new process on the machine; the process ends with the function's result. Locks that
  /// other threads of this process hold stay locked there.
  Result<pid_t> spawn(MachineId machine, const std::function<int()>& body);
  /// Moves the calling process, a fork of this one with one thread, into the machine. It does not end with
  /// the lab.
  Result<void> enter(MachineId machine) const;

  /// Waits for one of the lab's processes to end: its status as from waitpid(). Fails after the deadline.
  Result<int> wait(pid_t process, Duration patience);
  /// Asks a process to end (SIGTERM).
  void stop(pid_t process) const;

 private:
  Lab(Held held, Guard guard, pid_t owner)
      : held_(std::move(held)), guard_(std::move(guard)), owner_(owner) {}

  Held held_;
  Guard guard_;                   // for the CPU shares, if this process made them
  pid_t owner_;                   // a copy in a fork must end nothing
  std::vector<pid_t> processes_;  // not yet waited for
};

}  // namespace weir::real
