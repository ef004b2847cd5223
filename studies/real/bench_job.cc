#include "studies/real/bench_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/experiment/planned_run.h"

namespace weir {
namespace {

using Json = nlohmann::ordered_json;

// Workers' gradients are in the memory beside the NIC and are sent from there. The rates here are
// placeholders: nothing is simulated, and all machines of a kind are equal.
Json topology(const BenchJob& job) {
  Json groups = {{{"name", "worker"},
                  {"count", job.workers},
                  {"switches", {{{"name", "p0"}, {"at", "numa0"}}}},
                  {"gpus", {{{"at", "p0"}}}},
                  {"nics", {{{"at", "p0"}, {"rate", "100Gbps"}}}}}};
  if (job.servers > 0) {
    groups.push_back(
        {{"name", "server"}, {"count", job.servers}, {"nics", {{{"at", "numa0"}, {"rate", "100Gbps"}}}}});
  }
  return {{"name", "bench"}, {"groups", groups}};
}

std::string experiment(const BenchJob& job) {
  const Json tensor = {{"name", "gradients"}, {"elements", job.gradients.count() / 4}, {"dtype", "f32"}};
  const Json layer = {{"name", "all"}, {"forward", "1us"}, {"backward", "1us"}, {"tensors", {tensor}}};
  return Json{{"topology", topology(job)},
              {"trace", {{"name", "bench"}, {"layers", {layer}}}},
              {"strategies", {job.strategy}},
              {"baseline", job.strategy},
              {"local", "gpu_direct"},
              {"partition_size", fmt::format("{}B", job.part.count())},
              {"finest_part", fmt::format("{}B", job.part.count())},
              {"warm_up", job.warm_up},
              {"iterations", job.iterations}}
      .dump();
}

std::vector<Duration> measured(const Record& record, int warm_up) {
  std::vector<Duration> times;
  Instant before;
  int number = 0;
  for (const std::vector<OpRecord>& ops : record.iterations) {
    Instant end;
    for (const OpRecord& op : ops) end = std::max(end, op.completed);
    if (number++ >= warm_up) times.push_back(end - before);
    before = end;
  }
  return times;
}

}  // namespace

Result<BenchTimes> run(const BenchJob& job) {
  const auto made = plan_run(experiment(job), job.strategy, "");
  if (!made) return tl::unexpected(made.error());
  const PlannedRun& all = **made;
  const SimulationSettings settings{all.dispatch, all.experiment.model, job.warm_up + job.iterations};
  const auto output = local_world(job.real).run(
      {all.experiment, job.strategy, all.plan, all.cluster, settings, all.cluster, {}});
  if (!output) return tl::unexpected(output.error());
  BenchTimes times{measured(output->record, job.warm_up), {}, {}, output->settings};
  std::vector<Bytes> out(all.cluster.machines().size());
  std::vector<Bytes> in(out.size());
  for (const MessageEnds& message : all.plan.messages()) {
    const Op& send = all.plan.op(message.send);
    times.moved += send.from.size;
    out[send.machine.index()] += send.from.size;
    in[send.peer.index()] += send.from.size;
  }
  times.most = std::max(*std::max_element(out.begin(), out.end()), *std::max_element(in.begin(), in.end()));
  return times;
}

}  // namespace weir
