#include "core/calibrate/prepared_runs.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/hash.h"
#include "core/experiment/experiment_file.h"

namespace weir {

Result<PreparedRuns> PreparedRuns::make(std::vector<RealRun> runs, Values known) {
  PreparedRuns all;
  all.known = std::move(known);
  std::map<std::string, std::size_t> kinds;
  std::map<std::pair<const Experiment*, std::string>, std::string> texts;
  for (const RealRun& run : runs) {
    std::string& text = texts[{run.experiment.get(), run.contender}];
    if (text.empty()) text = hash_of(whole_text(*run.experiment, run.contender)) + run.contender;
    const auto [at, fresh] = kinds.try_emplace(text, all.prepared.size());
    all.kind.push_back(at->second);
    if (!fresh) continue;
    auto prepared = PreparedRun::make(run);
    if (!prepared) return tl::unexpected(prepared.error());
    all.prepared.push_back(std::move(*prepared));
  }
  all.runs = std::move(runs);
  return all;
}

Result<double> PreparedRuns::log_time_of_kind(std::size_t kind_number, const Values& values) const {
  const auto time = prepared[kind_number]->predict(values);
  if (!time) return tl::unexpected(time.error());
  return std::log(std::max(time->seconds(), 1e-9));
}

}  // namespace weir
