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
  std::vector<std::string> arguments;  // the program first, found through PATH
  std::vector<std::string> variables;  // "NAME=value", added to this process's environment
  std::string input;                   // what it reads; must fit into a pipe
};

/// No process outlives this object, whatever happens. (On another host that holds for the program that
/// started it there.) One owner thread.
class Nodes {
 public:
  /// Runs them in machines of the lab, if there is one; it outlives the nodes.
  Nodes(const Cluster& cluster, real::Lab* lab) : cluster_(&cluster), lab_(lab) {}
  Nodes(const Nodes&) = delete;
  Nodes& operator=(const Nodes&) = delete;
  ~Nodes();

  /// Its output is discarded, because it reports failures to the coordinator. Its errors are kept for
  /// watch().
  Result<void> start(MachineId machine, const NodeCommand& command);
  /// Call it several times a second until all should end. Fails if one ended by itself and the job still runs
  /// as if it had not said why. Names its machine and the last line that it printed.
  Result<void> watch();
  /// Waits for all to end by themselves, at most this long.
  void wait(Duration patience);

 private:
  struct Child {
    MachineId machine;
    pid_t process;
    std::optional<std::pair<Instant, int>> ended;  // when it ended, and its status as from waitpid()
    real::Descriptor complaints;                   // what it printed as errors
  };

  /// Its status as from waitpid(), once it has ended.
  std::optional<int> ended(const Child& child);

  const Cluster* cluster_;
  real::Lab* lab_;
  std::vector<Child> children_;
};

}  // namespace weir
