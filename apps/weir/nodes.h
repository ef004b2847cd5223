// The processes of a job's machines on this host.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "backends/real/lab/lab.h"
#include "core/base/result.h"
#include "core/cluster/cluster.h"

namespace weir {

/// Whatever happens, none outlives this. One owner thread.
class Nodes {
 public:
  /// In machines of the lab if there is one, which outlives the nodes.
  Nodes(const Cluster& cluster, real::Lab* lab) : cluster_(&cluster), lab_(lab) {}
  Nodes(const Nodes&) = delete;
  Nodes& operator=(const Nodes&) = delete;
  ~Nodes();

  /// Starts this program as the machine's node, which gets the job's key and says nothing.
  Result<void> start(MachineId machine, const std::string& key, double patience);
  /// Fails if one has ended by itself without having said why, naming its machine.
  Result<void> watch();
  /// Waits for all to end by themselves, but not longer.
  void wait(Duration patience);

 private:
  struct Child {
    MachineId machine;
    pid_t process;
    bool ended;
  };

  /// Its status as waitpid() gives it, once it has ended.
  std::optional<int> ended(const Child& child);

  const Cluster* cluster_;
  real::Lab* lab_;
  std::vector<Child> children_;
};

}  // namespace weir
