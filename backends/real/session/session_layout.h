// What all processes of a training session agree on: the cluster, which process is which machine, and how
// tensors are planned.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/real/session/notes.h"
#include "core/cluster/cluster.h"
#include "core/experiment/experiment.h"
#include "core/plan/plan.h"
#include "core/workload/workload.h"

namespace weir::real {

/// The settings that define a session's layout; a value.
struct LayoutSettings {
  int ranks = 1;
  int servers = 0;
  std::string strategy = std::string(default_strategy());
  std::string topology;  // a file; if empty: machines with NICs of nic_rate behind one switch
  std::string settings;  // a settings file; empty: none
  std::string options;   // a JSON object of options as in experiments; they override the file's
  BytesPerSecond nic_rate = BytesPerSecond(1'250'000'000);  // of each machine, if no topology is given
};

/// Tensors that are planned together. It cannot be copied or moved, because the workload refers to the trace.
struct TensorPlan {
  explicit TensorPlan(Trace given) : trace(std::move(given)), workload(trace) {}
  TensorPlan(const TensorPlan&) = delete;
  TensorPlan& operator=(const TensorPlan&) = delete;

  Trace trace;
  Workload workload;
  Plan plan;
  std::string hash;                        // of the plan
  std::vector<int> layers;                 // by tensor: the layer that contains only it
  std::shared_ptr<const Cluster> cluster;  // the cluster of the plan
};

/// An immutable value; any thread may read it.
class SessionLayout {
 public:
  /// Fails, naming the setting, if the settings contradict each other.
  static Result<SessionLayout> make(const LayoutSettings& settings);
  /// The same layout, from a welcome().
  static Result<SessionLayout> of(const WelcomeNote& note);
  /// Leaves the places and the transport empty.
  WelcomeNote welcome() const;

  const Cluster& cluster() const { return *cluster_; }
  Dispatch dispatch() const { return dispatch_of(*strategy_, options_); }
  std::size_t ranks() const { return cluster_->gpu_machines().size(); }
  std::size_t servers() const { return servers_.size(); }
  MachineId machine(const Role& role) const;
  Role role(MachineId machine) const;
  std::vector<NicSpec> nics(MachineId machine) const;
  /// Whether these ranks can share a tensor (are_ranks()).
  bool has(const std::vector<int>& ranks) const { return are_ranks(ranks, this->ranks()); }
  /// The cluster of these ranks and the servers, for plans of their tensors. For kept tensors it has rank 0
  /// alone, which stands for every rank.
  std::shared_ptr<const Cluster> cluster(const std::vector<int>& ranks, bool kept = false) const;
  /// Which machine of the session each machine of `cluster` is. `cluster` is the cluster of these ranks.
  std::vector<MachineId> machines(const Cluster& cluster, const std::vector<int>& ranks) const;
  /// Replaces the names of a cluster's machines in the text by their roles. `cluster` is the cluster of these
  /// ranks.
  std::string with_roles(std::string text, const Cluster& cluster, const std::vector<int>& ranks) const;

  /// Plans these tensors of these ranks. Each tensor has rounds of its own (Options::independent_layers), and
  /// urgent tensors go first. All machines get the same plan.
  Result<std::unique_ptr<TensorPlan>> plan(const std::vector<TensorNote>& tensors,
                                           const std::vector<int>& ranks) const;
  /// The plan of kept tensors: from one rank to the servers and back, with an update for each part in
  /// between. All ranks use this plan, whatever their machine, because all must cut and place tensors alike.
  /// Needs servers.
  Result<std::unique_ptr<TensorPlan>> kept_plan(const std::vector<TensorNote>& tensors) const;

 private:
  Result<std::unique_ptr<TensorPlan>> planned(const std::vector<TensorNote>& tensors,
                                              const Strategy& strategy,
                                              std::shared_ptr<const Cluster> cluster,
                                              const Options& options) const;

  std::string text_;  // the experiment as JSON
  std::string name_;  // the strategy's name
  Topology topology_;
  std::shared_ptr<const Cluster> cluster_;
  const Strategy* strategy_ = nullptr;
  Options options_;
  std::vector<MachineId> servers_;
};

}  // namespace weir::real
