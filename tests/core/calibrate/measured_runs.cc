#include "tests/core/calibrate/measured_runs.h"

#include "core/base/units_text.h"
#include "tests/catch.h"

namespace weir::test {

const Values& truth() {
  static const Values values = {{"groups.gpu.nics.0.rate", Value("9.3Gbps")},
                                {"groups.cpu.nics.0.rate", Value("9.3Gbps")},
                                {"model.message_overhead", Value("70us")},
                                {"allreduce_efficiency", Value(0.85)}};
  return values;
}

void measure(RealRun run, const Values& values, int repetitions, double wrong, Random& random,
             std::vector<RealRun>& all) {
  const auto prepared = PreparedRun::make(run);
  if (!prepared) FAIL(prepared.error().text);
  const double time = (*prepared)->predict(values)->seconds();
  for (int i = 0; i < repetitions; ++i) {
    double factor = 1 + 0.005 * random.normal();
    if (random.uniform() < wrong) factor *= 1.3 + random.uniform();
    run.iteration = Duration::from_seconds(time * factor);
    all.push_back(run);
  }
}

std::vector<RealRun> runs(int repetitions, double wrong, std::uint64_t seed, const Values& values,
                          const std::vector<const char*>& strategies, const Topology& topology) {
  Random random(seed);
  std::vector<RealRun> all;
  for (const char* strategy : strategies) {
    for (const auto& [gpus, cpus] : {std::pair(2, 1), {2, 2}, {3, 1}, {4, 2}, {4, 4}}) {
      const auto own = std::make_shared<const Experiment>(test::experiment(topology, strategy, gpus, cpus));
      measure({"runs.json", own, strategy, Duration(0)}, values, repetitions, wrong, random, all);
    }
  }
  return all;
}

const CalibratedValue& value(const Calibrated& all, const std::string& path) {
  for (const CalibratedValue& one : all.values) {
    if (one.path == path) return one;
  }
  FAIL(path << " was not fitted");
  return all.values.front();
}

double rate(const Calibrated& all, const std::string& path) {
  return static_cast<double>(parse_rate(value(all, path).value.as_string())->value());
}

}  // namespace weir::test
