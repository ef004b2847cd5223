// The processes of a job's machines on this host.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/real/lab/lab.h"
#include "backends/real/process/descriptor.h"
#include "core/base/result.h"
#include "core/base/units.h"
#include "core/cluster/cluster.h"

namespace weir {

/// How a machine's process is started.
struct NodeCommand {
  std::vector<std::string> arguments;  // the program first, looked for in PATH
  std::vector<std::string> variables;  // "NAME=value", beside the environment of this process
  std::string input;                   // what it reads; little enough for a pipe
};

/// Whatever happens, none outlives this (of one on another host, the program that started it there). One
/// owner thread.
class Nodes {
 public:
  /// In machines of the lab if there is one, which outlives the nodes.
  Nodes(const Cluster& cluster, real::Lab* lab) : cluster_(&cluster), lab_(lab) {}
  Nodes(const Nodes&) = delete;
  Nodes& operator=(const Nodes&) = delete;
  ~Nodes();

  /// What it prints goes nowhere: what fails, it tells the coordinator. Errors are kept for watch().
  Result<void> start(MachineId machine, const NodeCommand& command);
  /// To be called several times a second until all are to end. Fails if one has ended by itself and the job
  /// goes on as if it had not said why, naming its machine and the last that it printed.
  Result<void> watch();
  /// Waits for all to end by themselves, but not longer.
  void wait(Duration patience);

 private:
  struct Child {
    MachineId machine;
    pid_t process;
    std::optional<std::pair<Instant, int>> ended;  // since when, and its status as waitpid() gives it
    real::Descriptor complaints;                   // what it has printed as errors
  };

  /// Its status as waitpid() gives it, once it has ended.
  std::optional<int> ended(const Child& child);

  const Cluster* cluster_;
  real::Lab* lab_;
  std::vector<Child> children_;
};

}  // namespace weir
