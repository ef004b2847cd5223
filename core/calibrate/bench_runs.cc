#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/number_in.h"
#include "core/calibrate/real_runs.h"
#include "core/cluster/topology_file.h"
#include "core/experiment/experiment_file.h"

namespace weir {
namespace {

using Json = nlohmann::ordered_json;

double whole(const Value& in, const char* name) { return number_in(in, name).value_or(-1); }

}  // namespace

bool is_bench_job(const Value& document) {
  const Value* rows = document.find("rows");
  return document.find("benchmark") != nullptr && document.find("workers") != nullptr && rows != nullptr &&
         rows->is(Value::Kind::kArray);
}

Result<RealRuns> read_bench_job(const Value& document, const std::string& source, const Topology& topology) {
  const Value* strategy = document.find("strategy");
  const double workers = whole(document, "workers");
  const double servers = whole(document, "servers");
  const double part = whole(document, "part_bytes");
  if (strategy == nullptr || !strategy->is(Value::Kind::kString) || workers < 1 || servers < 0 || part < 1 ||
      workers > 256 || servers > 256) {
    return failure(complaint(document, "",
                             "expected strategy, workers, servers and part_bytes, as weir bench "
                             "allreduce --json prints"));
  }
  Topology own = topology;
  own.calibration.reset();
  int with_gpus = static_cast<int>(workers);
  int without_gpus = static_cast<int>(servers);
  for (GroupSpec& group : own.groups)
    group.count = std::exchange(gpu_count(group) > 0 ? with_gpus : without_gpus, 0);
  if (with_gpus > 0 || without_gpus > 0) {
    return failure(fmt::format("{}: workers and servers: the topology has no group of machines {} GPUs",
                               source, with_gpus > 0 ? "with" : "without"));
  }
  RealRuns all;
  for (const Value& row : document.find("rows")->elements()) {
    const double bytes = whole(row, "bytes");
    const double seconds = whole(row, "seconds");
    if (bytes < 4 || seconds <= 0)
      return failure(
          complaint(row, "rows", "expected 'bytes' and 'seconds', as weir bench allreduce --json prints"));
    const Json tensor = {{"name", "gradients"}, {"elements", std::llround(bytes / 4)}, {"dtype", "f32"}};
    const Json layer = {{"name", "all"}, {"forward", "1us"}, {"backward", "1us"}, {"tensors", {tensor}}};
    const std::string size = fmt::format("{}B", std::llround(part));
    const Json text = {{"topology", write_topology(own)},
                       {"trace", {{"name", "bench"}, {"layers", {layer}}}},
                       {"strategies", {strategy->as_string()}},
                       {"baseline", strategy->as_string()},
                       {"partition_size", size},
                       {"finest_part", size}};
    const auto file = ExperimentFile::parse(text.dump(), source);
    if (!file) return tl::unexpected(file.error());
    auto experiment = file->experiment({});
    if (!experiment) return tl::unexpected(experiment.error());
    all.runs.push_back({source, std::make_shared<const Experiment>(std::move(*experiment)),
                        strategy->as_string(), Duration::from_seconds(seconds)});
  }
  return all;
}

}  // namespace weir
