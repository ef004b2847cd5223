// What all processes of a training session agree on: the cluster, who is which machine of it, and how its
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

/// What leads to a session's world; a value.
struct LayoutSettings {
  int ranks = 1;
  int servers = 0;
  std::string strategy = std::string(default_strategy());
  std::string topology;  // a file; empty: NICs of nic_rate behind one switch
  std::string settings;  // a settings file; empty: none
  std::string options;   // a JSON object of options as experiments have them, which go before the file's
  BytesPerSecond nic_rate = BytesPerSecond(1'250'000'000);  // of each machine, if there is no topology
};

/// Tensors that are planned together. Neither copied nor moved: the workload reads the trace.
struct TensorPlan {
  explicit TensorPlan(Trace given) : trace(std::move(given)), workload(trace) {}
  TensorPlan(const TensorPlan&) = delete;
  TensorPlan& operator=(const TensorPlan&) = delete;

  Trace trace;
  Workload workload;
  Plan plan;
  std::string hash;                        // of the plan
  std::vector<int> layers;                 // by tensor: the layer that has it alone
  std::shared_ptr<const Cluster> cluster;  // that it is a plan of
};

/// A value that does not change; any thread may read it.
class SessionLayout {
 public:
  /// Fails, naming the setting, if the settings do not fit each other.
  static Result<SessionLayout> make(const LayoutSettings& settings);
  /// The same world from what welcome() says of it.
  static Result<SessionLayout> of(const WelcomeNote& note);
  /// Without the places and the transport.
  WelcomeNote welcome() const;

  const Cluster& cluster() const { return *cluster_; }
  Dispatch dispatch() const { return dispatch_of(*strategy_, options_); }
  std::size_t ranks() const { return cluster_->gpu_machines().size(); }
  std::size_t servers() const { return servers_.size(); }
  MachineId machine(const Role& role) const;
  Role role(MachineId machine) const;
  std::vector<NicSpec> nics(MachineId machine) const;
  /// Whether these can be a tensor's ranks (are_ranks()).
  bool has(const std::vector<int>& ranks) const { return are_ranks(ranks, this->ranks()); }
  /// The cluster of these ranks and the servers, on which plans of their tensors are made; of kept tensors
  /// that of rank 0, which stands for every other.
  std::shared_ptr<const Cluster> cluster(const std::vector<int>& ranks, bool kept = false) const;
  /// Which machines of the session those of a cluster are, whose ranks these are.
  std::vector<MachineId> machines(const Cluster& cluster, const std::vector<int>& ranks) const;
  /// The text with a cluster's machines, whose ranks these are, called by their roles.
  std::string with_roles(std::string text, const Cluster& cluster, const std::vector<int>& ranks) const;

  /// The plan of these tensors of these ranks, in which each goes in rounds of its own
  /// (Options::independent_layers), the more urgent ones first. The same on every machine.
  Result<std::unique_ptr<TensorPlan>> plan(const std::vector<TensorNote>& tensors,
                                           const std::vector<int>& ranks) const;
  /// The plan of kept tensors: one rank's way to the servers and back, with an update in between for each
  /// part. It is that of every rank, whatever its machine: all must cut and place tensors alike. There are
  /// servers.
  Result<std::unique_ptr<TensorPlan>> kept_plan(const std::vector<TensorNote>& tensors) const;

 private:
  Result<std::unique_ptr<TensorPlan>> planned(const std::vector<TensorNote>& tensors,
                                              const Strategy& strategy,
                                              std::shared_ptr<const Cluster> cluster,
                                              const Options& options) const;

  std::string text_;  // the experiment
  std::string name_;  // the strategy
  Topology topology_;
  std::shared_ptr<const Cluster> cluster_;
  const Strategy* strategy_ = nullptr;
  Options options_;
  std::vector<MachineId> servers_;
};

}  // namespace weir::real
