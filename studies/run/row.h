// The result of one run of an experiment, as result files contain it: plain numbers, with their units in
// their names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/document/fields.h"

namespace weir {

/// How much a link carried, and how fully it was used.
struct LinkRow {
  std::string name;
  std::int64_t bytes = 0;  // in an iteration
  double use = 0.0;
};

/// Another job that ran at the same time.
struct OtherJobRow {
  std::string name;
  std::string strategy;
  std::optional<std::int64_t> iteration_ns;
  std::int64_t alone_ns = 0;
};

/// One strategy at one point of the experiment, with one seed.
struct Row {
  std::string strategy;
  std::int64_t gpu_machines = 0;
  std::int64_t cpu_machines = 0;
  std::uint64_t seed = 1;
  std::int64_t iteration_ns = 0;
  std::int64_t exposed_communication_ns = 0;
  std::int64_t communication_ns = 0;
  std::int64_t compute_ns = 0;
  std::optional<std::int64_t> goodput_bytes_per_s;
  std::optional<std::int64_t> goodput_bound_bytes_per_s;
  std::int64_t bound_ns = 0;
  std::optional<double> bound_percent;
  std::string bound_binding;
  std::int64_t plan_bound_ns = 0;
  std::string binding;
  std::optional<std::int64_t> first_ns;
  std::optional<std::int64_t> first_bound_ns;
  std::optional<std::int64_t> first_plan_bound_ns;
  std::optional<std::string> label;
  std::optional<std::string> label_reason;
  double samples_per_s = 0.0;
  std::optional<double> speedup;
  std::optional<std::int64_t> alone_ns;
  std::optional<std::int64_t> link_rate_bytes_per_s;
  std::optional<double> link_rate_difference;
  std::optional<std::int64_t> predicted_ns;
  std::optional<std::int64_t> checked_elements;
  std::int64_t host_memory_bytes = 0;
  std::int64_t messages = 0;
  std::int64_t ops = 0;
  std::optional<std::string> timeline;
  std::optional<std::string> record;
  std::optional<std::string> prediction;
  std::vector<OtherJobRow> other_jobs;
  std::vector<LinkRow> links;
  std::vector<std::int64_t> host_memory_by_machine;
};

template <class Visitor>
void fields(Visitor& visitor, LinkRow& link) {
  visitor.required("name", link.name, "the link");
  visitor.required("bytes", link.bytes, "what it carries in an iteration");
  visitor.required("use", link.use, "those bytes divided by what it could carry in that time");
}

template <class Visitor>
void fields(Visitor& visitor, OtherJobRow& job) {
  visitor.required("name", job.name, "the job");
  visitor.required("strategy", job.strategy, "its strategy");
  visitor.optional("iteration_ns", job.iteration_ns,
                   "mean time of its iterations that began and ended while the run was measured; empty "
                   "without such iterations");
  visitor.required("alone_ns", job.alone_ns, "the same if no other job runs");
}

template <class Visitor>
void bound_fields(Visitor& visitor, Row& row) {
  visitor.required(
      "bound_ns", row.bound_ns,
      "an iteration_ns that no schedule of any strategy can beat on this cluster with the compute "
      "times of the trace");
  visitor.optional("bound_percent", row.bound_percent,
                   "100 x bound_ns over iteration_ns; may exceed 100 with jitter, which the bound ignores; "
                   "empty if messages used no link of the cluster");
  visitor.required("bound_binding", row.bound_binding, "the resource that sets bound_ns");
  visitor.required("plan_bound_ns", row.plan_bound_ns,
                   "an iteration_ns that this strategy's plan cannot beat");
  visitor.required("binding", row.binding, "the resource that sets plan_bound_ns");
  visitor.optional("first_ns", row.first_ns,
                   "time of the first iteration, which all machines start together");
  visitor.optional("first_bound_ns", row.first_bound_ns,
                   "a first_ns that no schedule of any strategy can beat; later iterations may be shorter");
  visitor.optional("first_plan_bound_ns", row.first_plan_bound_ns,
                   "a first_ns that this strategy's plan cannot beat");
}

template <class Visitor>
void fields(Visitor& visitor, Row& row) {
  visitor.required("strategy", row.strategy, "the strategy");
  visitor.required("gpu_machines", row.gpu_machines, "machines with GPUs");
  visitor.required("cpu_machines", row.cpu_machines, "machines without GPUs");
  visitor.required("seed", row.seed, "the seed of the jitter");
  visitor.required("iteration_ns", row.iteration_ns, "mean time of an iteration");
  visitor.required("exposed_communication_ns", row.exposed_communication_ns,
                   "iteration minus compute: what communication costs");
  visitor.required("communication_ns", row.communication_ns, "time in which any message is under way");
  visitor.required("compute_ns", row.compute_ns,
                   "measured forward and backward time of the machine that computes longest");
  visitor.optional("goodput_bytes_per_s", row.goodput_bytes_per_s,
                   "bytes of the model over communication_ns; empty if that is 0");
  visitor.optional("goodput_bound_bytes_per_s", row.goodput_bound_bytes_per_s,
                   "the largest goodput_bytes_per_s that NICs and uplinks of this cluster allow; empty "
                   "without messages, or if they moved through memory");
  bound_fields(visitor, row);
  visitor.optional("label", row.label,
                   "whether the values that the simulation uses were measured: calibrated, extrapolated "
                   "beyond measurements, or vendor constant; for a real run, the label of its prediction");
  visitor.optional("label_reason", row.label_reason, "the value that prevents a better label, and why");
  visitor.required("samples_per_s", row.samples_per_s, "of all GPUs together");
  visitor.optional("speedup", row.speedup,
                   "iteration_ns of the baseline at the same point and seed over this; empty without one");
  visitor.optional("alone_ns", row.alone_ns, "iteration_ns if no other job runs; empty if none runs here");
  visitor.optional("link_rate_bytes_per_s", row.link_rate_bytes_per_s,
                   "rate of plain connections over a NIC just before the run, each way");
  visitor.optional("link_rate_difference", row.link_rate_difference,
                   "how far that rate and the rate just after the run lie apart, as a fraction of the lower; "
                   "bounds use the faster rates of both measurements");
  visitor.optional("predicted_ns", row.predicted_ns,
                   "iteration_ns of the same plan in simulation, at the measured rates");
  visitor.optional("checked_elements", row.checked_elements,
                   "gradient elements whose sums were checked, on all GPUs; empty if checks were off");
  visitor.required("host_memory_bytes", row.host_memory_bytes,
                   "buffers in host memory, on the machine with the most");
  visitor.required("messages", row.messages, "messages in an iteration");
  visitor.required("ops", row.ops, "ops in an iteration");
  visitor.optional("timeline", row.timeline, "the file that draws the run");
  visitor.optional("record", row.record, "the file that holds its record");
  visitor.optional("prediction", row.prediction, "the file that holds the record of its prediction");
  visitor.optional("other_jobs", row.other_jobs, "iteration times of the other jobs that ran beside it");
  visitor.optional("links", row.links, "the most used link of each kind, the most used first");
  visitor.optional("host_memory_by_machine", row.host_memory_by_machine, "buffers in host memory, in bytes");
}

}  // namespace weir
