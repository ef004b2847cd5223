// A cluster of a topology emulated on one Linux host: a network namespace for each machine, and between them
// links shaped to the topology's rates. What is planned and simulated for the cluster can so be run and
// measured with real processes and real bytes, without the cluster.
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

/// What to run in a machine.
struct Program {
  std::vector<std::string> arguments;    // the program first, looked for in PATH
  std::vector<std::string> environment;  // "NAME=value", beside that of this process
  int output = -1;                       // files of this process's; -1: its own
  int error = -1;
};

/// The process that keeps a lab.
struct Keeper {
  pid_t process = -1;
  std::vector<std::string> networks;  // of each machine, for nsenter --net
  Result<std::string> shares;         // the folder of the machines' control groups, or why there are none
};

/// A resource. Invariants:
/// * Nothing of it touches the host's network, its files, or another lab.
/// * Machines share CPU time in proportion to their cores, where control groups are allowed (cpu_shares.h).
/// * All of it ends with the object, or with this process however that one ends: the machines' processes are
///   killed, the kernel removes networks that nobody holds, and a guard removes control groups. Nothing is
///   left to clean up.
/// * A lab that is kept outlives the process that made it, until down(); objects that use it add to it only
///   processes, which end with them.
/// Not thread-safe; processes of machines are children of this one, which belong to the lab: wait() for them
/// here.
class Lab {
 public:
  /// Whether a cluster like that can be emulated at all; up() and the others say the same.
  static Result<void> check(const Cluster& cluster);
  /// Emulates the cluster as long as the object lives.
  static Result<std::unique_ptr<Lab>> up(const Cluster& cluster);
  /// The kept lab of the cluster's name. Fails if there is none, or if it is of another topology.
  static Result<std::unique_ptr<Lab>> join(const Cluster& cluster);

  /// Emulates the cluster until down(). Fails if a lab of that name is kept already by this user.
  static Result<Keeper> keep(const Cluster& cluster);
  /// Whether this user keeps a lab of that name.
  static bool kept(const std::string& name);
  /// Ends the kept lab with all processes in it. Fails if there is none.
  static Result<void> down(const std::string& name);

  Lab(const Lab&) = delete;
  Lab& operator=(const Lab&) = delete;
  ~Lab();

  std::size_t machines() const { return held_.namespaces.machines.size(); }
  /// The IPv4 address of the machine's NIC within the lab.
  static std::string address(MachineId machine, int nic) { return lab_address(machine, nic); }

  /// Runs a program in the machine, in a session of its own and with nothing to read. Fails too if it cannot
  /// be executed.
  Result<pid_t> spawn(MachineId machine, const Program& program);
  /// Runs a function in a process of its own in the machine, which ends with what it returns. What other
  /// threads of this process have locked stays locked there.
  Result<pid_t> spawn(MachineId machine, const std::function<int()>& body);
  /// Moves the calling process, a fork of this one with one thread, into the machine. It does not end with
  /// the lab by itself.
  Result<void> enter(MachineId machine) const;

  /// Waits for one of the lab's processes to end: its status as waitpid() gives it. Fails after so long.
  Result<int> wait(pid_t process, Duration patience);
  /// Asks one to end (SIGTERM).
  void stop(pid_t process) const;

 private:
  Lab(Held held, Guard guard, pid_t owner)
      : held_(std::move(held)), guard_(std::move(guard)), owner_(owner) {}

  Held held_;
  Guard guard_;                   // of the CPU shares, if this process has made them
  pid_t owner_;                   // a fork's copy of the object ends nothing
  std::vector<pid_t> processes_;  // that have not been waited for
};

}  // namespace weir::real
