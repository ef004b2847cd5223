// The fields of experiment files (fields.h says how such functions are used).
#pragma once

#include <array>
#include <string_view>

#include "core/base/fields.h"
#include "core/experiment/experiment.h"

namespace weir {

constexpr std::string_view kUnlimitedCredit = "unlimited";

// A send window, credit times partition_size, is a number of bytes that 64 bits hold.
constexpr std::int64_t kMostCredit = 1'000'000;
constexpr Bytes kLargestPart{1'000'000'000'000};
constexpr Bytes kSmallestPart{1000};  // below that a model falls into millions of messages
constexpr int kMostIterations = 10'000;
constexpr Duration kLongestOverhead{1'000'000'000};

/// An experiment as its file has it. What no visitor can say as one type is any JSON here, and
/// experiment_file.cc checks it.
struct ExperimentText {
  Experiment experiment;
  Value topology;  // the name of a file, or a topology
  Value trace;     // the name of a file, or a trace
  Value credit = Value(std::int64_t{*Options{}.credit});
  Value sweep = Value::object();
};

constexpr auto enum_names(Policy /*policy*/) {
  return std::array<Named<Policy>, 2>{{{Policy::kPriority, "priority"}, {Policy::kFifo, "fifo"}}};
}

constexpr auto enum_names(TimelinePoints /*points*/) {
  return std::array<Named<TimelinePoints>, 2>{
      {{TimelinePoints::kLast, "last"}, {TimelinePoints::kAll, "all"}}};
}

template <class Visitor>
void fields(Visitor& visitor, Model& model) {
  visitor.optional("message_overhead", model.message_overhead,
                   "the fixed time that each message occupies its connection", up_to(kLongestOverhead));
  visitor.optional("compute_jitter", model.compute_jitter,
                   "the relative standard deviation of compute times; 0 is exact", within(0, 1));
}

template <class Visitor>
void fields(Visitor& visitor, ExperimentText& text) {
  Experiment& experiment = text.experiment;
  Options& options = experiment.options;
  visitor.optional("question", experiment.question, "what the experiment is to answer");
  visitor.required("topology", text.topology, "the topology: a file, beside this one, or a topology itself");
  visitor.required("trace", text.trace, "the trace: a file, beside this one, or a trace itself");
  visitor.optional("strategies", experiment.strategies, "the strategies to compare; 'all' stands for all");
  visitor.optional(
      "baseline", experiment.baseline,
      "the strategy that speed-ups are over, one of those compared; if left out, the first of them where "
      "this one is not among them");
  visitor.optional("sweep", text.sweep,
                   "what to vary: lists of values by path, such as 'partition_size' or "
                   "'topology.groups.cpu.count'; every combination is run");
  visitor.optional(
      "partition_size", options.partition_size,
      "the largest part of a tensor that parameter servers, trees and the unified strategy send");
  visitor.optional("finest_part", options.finest_part,
                   "how finely parts are cut at most, where a summing machine would get too few of them");
  visitor.optional("fusion_size", options.fusion_size,
                   "the largest bucket of tensors that the all-reduces by rings work on at once");
  visitor.optional("credit", text.credit,
                   "how many times partition_size a NIC may have under way, or 'unlimited'");
  visitor.optional("policy", options.policy, "which of the messages that could start does start");
  visitor.optional("local", options.local, "how gradients get from a machine's GPUs to its host memory");
  visitor.optional("brute_force", options.brute_force,
                   "the fraction of the bytes that every GPU copies to host memory when the CPU assists",
                   within(0, 1));
  visitor.optional("cpu_share_factor", options.cpu_share_factor,
                   "how much the unified strategy's CPU machines sum, in units of their optimal share",
                   within(0, 1000));
  visitor.optional(
      "pull_requests", options.pull_requests,
      "whether workers ask for each sum once their push of it is through, as of parameter servers");
  visitor.optional("barrier", options.barrier, "whether forward waits for all layers, not only for its own");
  visitor.optional("iterations", experiment.iterations, "how many iterations are measured",
                   within(1, kMostIterations));
  visitor.optional("warm_up", experiment.warm_up, "how many iterations run before those",
                   within(0, kMostIterations));
  visitor.optional("seeds", experiment.seeds, "the seeds of the jitter; each is a run");
  visitor.optional("model", experiment.model, "what the simulation assumes beyond the topology");
  visitor.optional("timelines", experiment.timelines, "the strategies whose runs are drawn op by op");
  visitor.optional("timeline_points", experiment.timeline_points,
                   "which of their runs: at the last point of the sweep with the first seed, or all");
  visitor.optional("prove", experiment.prove, "whether each plan is proved before it runs");
}

}  // namespace weir
