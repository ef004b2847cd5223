// What `weir whatif` varies: the number of machines without GPUs, NIC rates, the local stage and the
// strategy.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/experiment/experiment.h"

namespace weir {

/// What a user requests, as text.
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

/// Everything except the number of CPU machines.
struct Scenario {
  std::string strategy;
  std::optional<BytesPerSecond> gpu_nic;  // each NIC of machines with GPUs; none: as in the topology
  std::optional<BytesPerSecond> cpu_nic;  // each NIC of the counted machines
  std::optional<LocalStage> local;        // none: as in the experiment
};

/// A distinguishing text: "unified with 25Gbps of GPU machines' NICs, local stage reduce".
std::string text(const Scenario& scenario);

/// Invariant: every experiment that it makes is valid.
class Scenarios {
 public:
  /// Errors begin with the name of the wish.
  static Result<Scenarios> of(const Experiment& base, const Wishes& wishes);

  /// The numbers of CPU machines, ascending.
  const std::vector<int>& counts() const { return counts_; }
  /// Ordered by NIC rate, slow ones first, then local stage, then strategy.
  const std::vector<Scenario>& scenarios() const { return scenarios_; }

  /// One for each scenario and number of CPU machines.
  std::size_t runs() const { return scenarios_.size() * counts_.size(); }

  Experiment experiment(const Scenario& scenario, int count) const;

  /// The group whose machines are counted, and whether it was added because the topology lacks one.
  const std::string& group() const { return base_.topology.groups[group_].name; }
  bool made_up() const { return made_up_; }

  /// A group in any of the clusters that has no price; none if costs can be computed.
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

/// The price of all machines per hour; each must have a price.
double price_an_hour(const Topology& topology);

}  // namespace weir
