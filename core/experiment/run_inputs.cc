#include "core/experiment/run_inputs.h"

#include <nlohmann/json.hpp>

#include "core/document/document.h"
#include "core/experiment/experiment_file.h"

namespace weir {

RunInputs::RunInputs(const Experiment& experiment)
    : experiment_(experiment),
      sources_(hashed(experiment.topology).text + "\n" + hashed(experiment.trace).text) {}

std::string RunInputs::text(const std::string& contender, std::uint64_t seed) const {
  const auto found = weir::contender(experiment_, contender);
  WEIR_CHECK(found, contender);
  Experiment alone = experiment_;
  alone.question.clear();
  alone.strategies = {std::string(found->strategy->name)};
  alone.variants.clear();
  alone.baseline = alone.strategies.front();
  alone.options = found->options;
  alone.seeds = {seed};
  alone.timelines.clear();
  alone.timeline_points = {};
  alone.published.reset();
  nlohmann::ordered_json written = write_experiment(alone);
  // sources_ contains both whole, not as a short hash.
  written.erase("topology");
  written.erase("trace");
  return json_text(written) + "\n" + sources_;
}

}  // namespace weir
