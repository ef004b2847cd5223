#include "tests/core/calibrate/scene.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/base/units_text.h"
#include "core/cluster/topology_file.h"
#include "core/experiment/experiment_file.h"
#include "tests/catch.h"

namespace weir::test {

Experiment experiment_of(const std::string& text) {
  const auto file = ExperimentFile::parse(text, "test.json");
  if (!file) FAIL(file.error().text);
  const auto read = file->experiment({});
  if (!read) FAIL(read.error().text);
  return *read;
}

std::string topology_text() {
  return R"({"name": "small", "groups": [
    {"name": "gpu", "count": 2, "numa": [{"sum_rate": {"f32": "5GB/s"}}],
     "gpus": [{"at": "numa0", "rate": "12GB/s"}], "nics": [{"at": "numa0", "rate": "10Gbps"}]},
    {"name": "cpu", "count": 2, "numa": [{"sum_rate": {"f32": "5GB/s"}}],
     "nics": [{"at": "numa0", "rate": "10Gbps"}]}],
    "network": {"latency": "20us"}})";
}

Topology topology() { return read_topology(*parse_document(topology_text(), "small.json")).value(); }

Experiment experiment(const Topology& topology, const std::string& strategy, int gpu_machines,
                      int cpu_machines) {
  Topology own = topology;
  own.groups[0].count = gpu_machines;
  own.groups[1].count = cpu_machines;
  const std::string text = fmt::format(
      R"({{"topology": {}, "strategies": ["{}"], "partition_size": "1MB", "finest_part": "1MB",
           "trace": {{"name": "net", "layers": [
             {{"name": "a", "forward": "1ms", "backward": "2ms",
               "tensors": [{{"name": "w", "elements": 2000000, "dtype": "f32"}}]}},
             {{"name": "b", "forward": "1ms", "backward": "2ms",
               "tensors": [{{"name": "v", "elements": 1000000, "dtype": "f32"}}]}}]}}}})",
      write_topology(own).dump(), strategy);
  return experiment_of(text);
}

Experiment one_tensor(const Topology& topology, const std::string& strategy, int elements) {
  return experiment_of(fmt::format(
      R"({{"topology": {}, "strategies": ["{}"], "trace": {{"name": "net", "layers": [
             {{"name": "a", "forward": "1ms", "backward": "2ms",
               "tensors": [{{"name": "w", "elements": {}, "dtype": "f32"}}]}}]}}}})",
      write_topology(topology).dump(), strategy, elements));
}

Calibration calibration(const Topology& topology) {
  Calibration all;
  for (const GroupSpec& group : topology.groups) all.shapes[group.name] = shape(group);
  all.shapes["network"] = shape(topology.network);
  const Value written = written_values(topology);
  for (const char* path : {"groups.gpu.nics.0.rate", "groups.cpu.nics.0.rate", "groups.gpu.gpus.0.rate",
                           "groups.gpu.numa.0.sum_rate.f32", "groups.cpu.numa.0.sum_rate.f32",
                           "network.latency", "model.message_overhead", "allreduce_efficiency"}) {
    CalibratedValue value;
    value.path = path;
    const Value* here = value_at(written, path);
    value.value = here != nullptr                               ? *here
                  : value.path == std::string(kMessageOverhead) ? Value("0s")
                                                                : Value(1.0);
    value.points = 10;
    value.least_size = Bytes(1'000);
    value.most_size = Bytes(16'000'000);
    const bool inside =
        value.path.find("numa") != std::string::npos || value.path.find("gpus") != std::string::npos;
    if (!inside) value.machines = 4;
    all.values.push_back(value);
  }
  return all;
}

}  // namespace weir::test
