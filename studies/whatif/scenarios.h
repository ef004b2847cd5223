// What `weir whatif` varies: how many machines without GPUs a cluster has, its NICs, the local stage and the
// strategy.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/experiment/experiment.h"

namespace weir {

/// What the command line asks for, as it is written there.
struct Wishes {
  std::vector<std::string> counts;  // "4", "0..16"
  std::vector<std::string> strategies = {std::string(default_strategy())};
  std::vector<std::string> nics;
  std::vector<std::string> gpu_nics;
  std::vector<std::string> cpu_nics;
  std::vector<std::string> locals;
  std::string group;
  std::string gpu_price;
  std::string cpu_price;
};

/// All but the number of CPU machines.
struct Scenario {
  std::string strategy;
  std::optional<BytesPerSecond> gpu_nic;  // each NIC of the machines with GPUs; none: as the topology has it
  std::optional<BytesPerSecond> cpu_nic;  // each NIC of the machines that are counted
  std::optional<LocalStage> local;        // none: as the experiment has it
};

/// "unified with 25Gbps of GPU machines' NICs, local stage reduce": what tells it from others.
std::string text(const Scenario& scenario);

/// Invariant: every experiment that it makes is right.
class Scenarios {
 public:
  /// What is wrong is told by the option.
  static Result<Scenarios> of(const Experiment& base, const Wishes& wishes);

  /// The numbers of CPU machines, ascending.
  const std::vector<int>& counts() const { return counts_; }
  /// For each NIC rate, slow ones first, each local stage with each strategy.
  const std::vector<Scenario>& scenarios() const { return scenarios_; }

  /// One for each scenario and number of CPU machines.
  std::size_t runs() const { return scenarios_.size() * counts_.size(); }

  Experiment experiment(const Scenario& scenario, int count) const;

  /// The group whose machines are counted, and whether the topology lacks it and it was made up.
  const std::string& group() const { return base_.topology.groups[group_].name; }
  bool made_up() const { return made_up_; }

  /// A group that any of the clusters has and that has no price; none if there are costs.
  std::optional<std::string> unpriced() const;
  std::string currency() const;

 private:
  Scenarios() = default;
  Result<void> find_group(const Wishes& wishes, const std::vector<BytesPerSecond>& nics);

  Experiment base_;
  std::size_t group_ = 0;
  bool made_up_ = false;
  std::vector<int> counts_;
  std::vector<Scenario> scenarios_;
};

/// What all machines cost an hour; each has a price.
double price_an_hour(const Topology& topology);

}  // namespace weir
