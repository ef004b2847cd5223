// The answers of `weir whatif`: for each number of CPU machines the time and cost of an iteration, where more
// machines stop helping, and what to do.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "studies/run/row.h"
#include "studies/whatif/scenarios.h"

namespace weir {

/// The knee is the smallest number of CPU machines whose iteration is at most this much longer than the
/// shortest.
constexpr double kKnee = 0.02;

/// The answer for one number of CPU machines in one scenario. Plain numbers, with their units in their names,
/// as in Row.
struct Answer {
  std::string strategy;
  std::optional<std::int64_t> gpu_nic_bytes_per_s;
  std::optional<std::int64_t> cpu_nic_bytes_per_s;
  std::optional<std::string> local;
  std::int64_t gpu_machines = 0;
  std::int64_t cpu_machines = 0;
  std::int64_t iteration_ns = 0;
  double speedup = 1.0;
  std::string binding;
  std::optional<std::string> label;
  std::optional<std::string> label_reason;
  double samples_per_s = 0.0;
  std::optional<double> price_per_hour;
  std::optional<double> cost_per_iteration;
  std::optional<double> cost_per_1000_samples;
  std::optional<double> saving_percent;
  bool knee = false;
  bool cheapest = false;
};

template <class Visitor>
void fields(Visitor& visitor, Answer& answer) {
  visitor.required("strategy", answer.strategy, "the strategy");
  visitor.optional("gpu_nic_bytes_per_s", answer.gpu_nic_bytes_per_s,
                   "each NIC of the machines with GPUs; empty: as in the topology");
  visitor.optional("cpu_nic_bytes_per_s", answer.cpu_nic_bytes_per_s,
                   "each NIC of the CPU machines; empty: as in the topology");
  visitor.optional("local", answer.local, "the local stage; empty: the experiment's");
  visitor.required("gpu_machines", answer.gpu_machines, "machines with GPUs");
  visitor.required("cpu_machines", answer.cpu_machines, "machines of the group whose count varies");
  visitor.required("iteration_ns", answer.iteration_ns, "time of an iteration, or its bound");
  visitor.required("speedup", answer.speedup,
                   "the iteration time with the fewest CPU machines divided by this one");
  visitor.required("binding", answer.binding, "the resource that sets the bound of the plan");
  visitor.optional(
      "label", answer.label,
      "calibrated, extrapolated or vendor constant; empty for the bound of the unified strategy alone");
  visitor.optional("label_reason", answer.label_reason, "the value that prevents a better label, and why");
  visitor.required("samples_per_s", answer.samples_per_s, "of all GPUs together");
  visitor.optional("price_per_hour", answer.price_per_hour, "of all machines");
  visitor.optional("cost_per_iteration", answer.cost_per_iteration, "that price for one iteration");
  visitor.optional("cost_per_1000_samples", answer.cost_per_1000_samples, "that price for 1000 samples");
  visitor.optional("saving_percent", answer.saving_percent,
                   "how much less an iteration costs than with the fewest CPU machines");
  visitor.required("knee", answer.knee, "the fewest CPU machines within 2 % of the shortest iteration");
  visitor.required("cheapest", answer.cheapest, "the least cost of an iteration");
}

/// The answer from a single run, without comparisons.
Answer answer_of(const Scenario& scenario, int count, const Row& row, std::optional<double> price_an_hour);

/// Compares the answers of one scenario, which are in ascending order of CPU machines, and marks knee and
/// cheapest.
void compare(std::vector<Answer>& answers);

/// The answers of one scenario.
struct Series {
  Scenario scenario;
  std::vector<Answer> answers;  // compared; empty if the scenario is impossible
};

/// Whether more than `count` CPU machines could shorten the scenario's iteration by more than the knee's 2 %.
using MoreHelps = std::function<bool(const Scenario& scenario, std::int64_t count)>;

/// What to do, in a sentence. It picks the answer with the fewest CPU machines among those within 2 % of the
/// shortest iteration; among equals, that of the first series. Some series must have an answer.
std::string advice(const std::vector<Series>& series, const MoreHelps& more_helps);

/// The name of a link or device without its machine's number: "gpu.nic0.out" for "gpu[4].nic0.out".
std::string without_number(const std::string& binding);

}  // namespace weir
