#include "studies/run/configuration.h"

#include <fmt/format.h>

#include <algorithm>

namespace weir {
namespace {

// The position of the topology or trace in the list; adds it if it is new.
std::size_t position(std::vector<Source>& sources, HashedText part, const std::string& name) {
  const auto known = std::find_if(sources.begin(), sources.end(),
                                  [&](const Source& other) { return other.hash == part.hash; });
  const auto index = static_cast<std::size_t>(known - sources.begin());
  if (known == sources.end()) sources.push_back({std::move(part.hash), name, std::move(part.text)});
  return index;
}

}  // namespace

Result<Configuration> configuration_of(const ExperimentFile& file, const ExperimentFile::Seen& seen) {
  Configuration all;
  const auto read = file.each_point([&](const Experiment& experiment) {
    seen(experiment);
    if (all.points.empty()) all.first = experiment;
    const std::string model = name_of(experiment.trace);
    all.points.push_back({position(all.topologies, hashed(experiment.topology), experiment.topology.name),
                          position(all.traces, hashed(experiment.trace), model)});
  });
  if (!read) return tl::unexpected(read.error());
  return all;
}

std::string name_of(const Trace& trace) {
  return fmt::format("{} ({} bytes)", trace.name, size(trace).count());
}

std::string names(const std::vector<Source>& sources) {
  std::vector<std::string> names;
  for (const Source& source : sources) {
    if (std::find(names.begin(), names.end(), source.name) == names.end()) names.push_back(source.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace weir
