// The fields of experiment files (fields.h says how such functions are used).
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/document/fields.h"
#include "core/experiment/axis.h"
#include "core/experiment/conditions_fields.h"
#include "core/experiment/experiment.h"

namespace weir {

constexpr std::string_view kUnlimitedCredit = "unlimited";

// A send window, credit times partition_size, is a number of bytes that 64 bits hold.
constexpr std::int64_t kMostCredit = 1'000'000;
constexpr Bytes kLargestPart{1'000'000'000'000};
constexpr Bytes kSmallestPart{1000};  // below that a model falls into millions of messages
constexpr int kMostIterations = 10'000;
constexpr Duration kLongestOverhead{1'000'000'000};

/// ["all"].
inline Value all_strategies() {
  Value list = Value::array();
  list.append(Value("all"));
  return list;
}

constexpr auto enum_names(Policy /*policy*/) {
  return std::array<Named<Policy>, 2>{{{Policy::kPriority, "priority"}, {Policy::kFifo, "fifo"}}};
}

constexpr auto enum_names(TimelinePoints /*points*/) {
  return std::array<Named<TimelinePoints>, 2>{
      {{TimelinePoints::kLast, "last"}, {TimelinePoints::kAll, "all"}}};
}

constexpr auto enum_names(Collectives /*collectives*/) {
  return std::array<Named<Collectives>, 2>{
      {{Collectives::kMacro, "macro"}, {Collectives::kPerGpu, "per_gpu"}}};
}

template <class Visitor>
void fields(Visitor& visitor, Model& model) {
  visitor.optional("collectives", model.collectives,
                   "whether collectives and the copies of shares are one flow each, or one for each GPU");
  visitor.optional("message_overhead", model.message_overhead,
                   "the fixed time for which each message occupies its connection", up_to(kLongestOverhead));
  visitor.optional("scatter_entries", model.scatter_entries, "how many pieces of memory describe a message",
                   within(1, 16));
  visitor.optional("entry_overhead", model.entry_overhead,
                   "the time that each piece except the first adds to the overhead of a message",
                   up_to(kLongestOverhead));
  visitor.optional(
      "unaligned_efficiency", model.unaligned_efficiency,
      "the fraction of a NIC's rate that messages achieve if they begin within a page of host memory",
      within(kLeastEfficiency, 1));
  visitor.optional("collective_overhead", model.collective_overhead,
                   "the compute time that each collective among the GPUs of a machine takes away from them",
                   up_to(kLongestOverhead));
  visitor.optional("compute_jitter", model.compute_jitter,
                   "the relative standard deviation of compute times; 0 is exact", within(0, 1));
}

template <class Visitor>
void framework_fields(Visitor& visitor, Options& options) {
  visitor.optional("collective", options.collective, "which all-reduce ddp, horovod and bytescheduler use");
  visitor.optional("bucket_size", options.bucket_size, "the size at which a bucket of ddp is full");
  visitor.optional("fusion_buffer", options.fusion_buffer, "the most bytes that horovod fuses");
  visitor.optional("cycle_time", options.cycle_time,
                   "how often horovod starts the tensors that have become ready; 0: at once",
                   up_to(kLongestOverhead));
}

template <class Visitor>
void option_fields(Visitor& visitor, Options& options, Value& credit) {
  visitor.optional("partition_size", options.partition_size,
                   "the largest part of a tensor that parameter servers, trees and the unified strategy send "
                   "as one message");
  visitor.optional("finest_part", options.finest_part,
                   "the smallest size to which parts are cut when a summing machine would get too few");
  static const std::string fusion = "the largest bucket of tensors that these strategies process at once: " +
                                    strategies_cut_by("fusion_size");
  visitor.optional("fusion_size", options.fusion_size, fusion);
  visitor.optional("credit", credit, "the window of a NIC as a multiple of partition_size, or 'unlimited'");
  visitor.optional("policy", options.policy, "which of the ready messages starts first");
  visitor.optional("local", options.local, "how gradients get from a machine's GPUs to its host memory");
  visitor.optional(
      "brute_force", options.brute_force,
      "with 'cpu_assisted', the fraction of the bytes that every GPU copies to host memory unreduced",
      within(0, 1));
  visitor.optional("cpu_share_factor", options.cpu_share_factor,
                   "how much the unified strategy's CPU machines sum, in units of their optimal share",
                   within(0, 1000));
  visitor.optional("pull_requests", options.pull_requests,
                   "whether workers request each sum after their push, as from parameter servers");
  visitor.optional("update_barrier", options.update_barrier,
                   "whether parameter servers send no sum before the sums of all servers are complete");
  visitor.optional("overlap", options.overlap,
                   "whether gradients leave during the backward pass, and not only after it");
  visitor.optional("barrier", options.barrier,
                   "whether the next forward pass starts only when all layers are updated");
  visitor.optional(
      "placement", options.placement,
      "which machine sums a part: according to the shares, by BytePS's hash, or whole tensors in turn");
  visitor.optional("numa", options.numa,
                   "the NUMA node where a NIC's bytes lie in host memory and are summed: its own, another, "
                   "or all in turn");
  visitor.optional("sum_order", options.sum_order,
                   "the order in which values are added: as they arrive, or in the plan's order, which gives "
                   "the same bits in every run");
  visitor.optional("loopback", options.loopback,
                   "how the gradients that a GPU machine sums itself get to the sum: within its memory, or "
                   "through its NIC");
  visitor.optional("page_aligned", options.page_aligned,
                   "whether parts leave from and land in slices of host memory that begin on a page");
  visitor.optional("optimizer", options.optimizer,
                   "what parameter servers do with a sum before they send it back");
  visitor.optional(
      "update_passes", options.update_passes,
      "how long an optimizer's update takes, in passes over memory; 0: as many passes as it makes",
      within(0, 1000));
  visitor.optional(
      "allreduce_efficiency", options.allreduce_efficiency,
      "the fraction of the NIC's rate that all-reduce traffic achieves; NCCL's 63 of 90 Gbps are 0.7",
      within(0.01, 1));
  visitor.optional(
      "part_overhead", options.part_overhead,
      "the time that each part or bucket takes on each machine before it starts, one after the other",
      up_to(kLongestOverhead));
  framework_fields(visitor, options);
}

/// The credit as files state it.
inline Value credit_of(const Options& options) {
  return options.credit ? Value(std::int64_t{*options.credit}) : Value(std::string(kUnlimitedCredit));
}

/// The credit's type in a schema.
inline nlohmann::ordered_json credit_schema() {
  return {{{"type", "integer"}, {"minimum", 1}, {"maximum", kMostCredit}}, {{"const", kUnlimitedCredit}}};
}

/// A strategy with a name and options of its own, as in an experiment's list.
struct VariantText {
  std::string name;
  std::string as;
  Options options;
  Value credit = Value(std::int64_t{*Options{}.credit});
};

template <class Visitor>
void fields(Visitor& visitor, VariantText& variant) {
  visitor.required("name", variant.name, "the strategy");
  visitor.required("as", variant.as, "its name in tables and files", spelt(Spelling::kLabel));
  option_fields(visitor, variant.options, variant.credit);
}

/// Another job, as in an experiment's list. Options that it leaves out have their defaults, not the
/// experiment's values.
struct OtherJobText {
  OtherJob job;
  Value trace;  // as in the experiment
  Value credit = Value(std::int64_t{*Options{}.credit});
};

template <class Visitor>
void fields(Visitor& visitor, OtherJobText& text) {
  OtherJob& job = text.job;
  visitor.required("name", job.name, "its name in results", spelt(Spelling::kLabel));
  visitor.required("trace", text.trace, "its trace: a file name, relative to this file, or a trace itself");
  visitor.required("strategy", job.strategy, "its strategy");
  visitor.required("machines", job.machines,
                   "names of the machines that it runs on, as 'gpu[3]'; * stands for any text");
  visitor.optional("start", job.start, "when its first iteration begins, from the start of the run",
                   up_to(kLongestSpell));
  option_fields(visitor, job.options, text.credit);
}

/// An experiment as its file states it. Members that visitors cannot describe as one type are any JSON here,
/// and experiment_file.cc checks them.
struct ExperimentText {
  Experiment experiment;
  Value strategies = all_strategies();
  Value topology;  // the name of a file, or a topology
  Value trace;     // the name of a file, or a trace
  Value credit = Value(std::int64_t{*Options{}.credit});
  std::vector<OtherJobText> other_jobs;
  Value sweep = Value::object();
  Combination sweep_by = Combination::kGrid;
  std::optional<Samples> samples;  // read and checked by axis.h
};

template <class Visitor>
void fields(Visitor& visitor, ExperimentText& text) {
  Experiment& experiment = text.experiment;
  Options& options = experiment.options;
  visitor.optional("question", experiment.question, "what the experiment is to answer");
  visitor.required("topology", text.topology,
                   "the topology: a file name, relative to this file, or a topology itself");
  visitor.required("trace", text.trace, "the trace: a file name, relative to this file, or a trace itself");
  visitor.optional("machines", experiment.machines,
                   "names of the topology's machines that train, as 'gpu[3]'; * stands for any text");
  visitor.optional("strategies", text.strategies,
                   "the strategies to compare: each is a name, or an object with a name, a name for the "
                   "tables ('as') and its own options; 'all' stands for all");
  visitor.optional("baseline", experiment.baseline,
                   "the strategy that speed-ups are relative to, one of those compared; if this default is "
                   "not among them, the first of them");
  visitor.optional("sweep", text.sweep,
                   "what to vary: lists of values by path, such as 'partition_size' or "
                   "'topology.groups.cpu.count'; every combination is run");
  visitor.optional("sweep_by", text.sweep_by,
                   "grid runs every combination of the sweep's values; one_at_a_time varies one list at a "
                   "time, with the first value of each other list");
  visitor.optional("samples", text.samples,
                   "points drawn from ranges; all of them are run at every point of the sweep");
  option_fields(visitor, options, text.credit);
  visitor.optional("iterations", experiment.iterations, "how many iterations are measured",
                   within(1, kMostIterations));
  visitor.optional("warm_up", experiment.warm_up, "how many iterations run before the measured ones",
                   within(0, kMostIterations));
  visitor.optional("seeds", experiment.seeds, "the seeds of the jitter; each gives one run");
  visitor.optional("model", experiment.model, "what the simulation assumes beyond the topology");
  visitor.optional("conditions", experiment.conditions,
                   "disturbances in the simulation that the topology does not describe");
  visitor.optional("other_jobs", text.other_jobs,
                   "other training jobs in the simulation, on machines of the same topology; they repeat as "
                   "long as this job runs");
  visitor.optional("timelines", experiment.timelines, "the strategies whose runs are drawn op by op");
  visitor.optional("timeline_points", experiment.timeline_points,
                   "which of their runs: at the last point of the sweep with the first seed, or all");
  visitor.optional("prove", experiment.prove, "whether each plan is proved before it runs");
  visitor.optional("published", experiment.published,
                   "what a publication reports for these runs, to compare with");
}

}  // namespace weir
