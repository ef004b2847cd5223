#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/schema.h"
#include "core/base/write_fields.h"
#include "core/cluster/topology_file.h"
#include "core/experiment/experiment_fields.h"
#include "core/experiment/experiment_file.h"
#include "core/strategies/strategy.h"
#include "core/workload/trace_file.h"

namespace weir {
namespace {

// The 64-bit FNV-1a hash, in hexadecimal: tells two traces apart, and guards against nothing.
std::string hash(const std::string& text) {
  std::uint64_t value = 0xcbf29ce484222325ULL;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return fmt::format("{:016x}", value);
}

HashedText hashed(const nlohmann::ordered_json& written) {
  std::string text = written.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  return {hash(text), std::move(text)};
}

}  // namespace

nlohmann::ordered_json write_experiment(const Experiment& experiment) {
  ExperimentText text;
  text.experiment = experiment;
  const std::optional<int> credit = experiment.options.credit;
  text.credit = credit ? Value(std::int64_t{*credit}) : Value(std::string(kUnlimitedCredit));
  nlohmann::ordered_json written = write_fields(text);
  written.erase("sweep");
  written["topology"] = hashed(experiment.topology).hash;
  written["trace"] = hashed(experiment.trace).hash;
  return written;
}

HashedText hashed(const Topology& topology) { return hashed(write_topology(topology)); }

HashedText hashed(const Trace& trace) { return hashed(write_trace(trace)); }

std::string experiment_schema() {
  // Ours, so it parses; any JSON is narrowed to what the check accepts.
  auto schema =
      nlohmann::ordered_json::parse(schema_text<ExperimentText>("A Weir experiment"), nullptr, false);
  nlohmann::ordered_json& properties = schema["properties"];
  for (const char* part : {"topology", "trace"}) {
    properties[part]["anyOf"] = {{{"type", "string"}}, {{"type", "object"}}};
  }
  properties["credit"]["anyOf"] = {{{"type", "integer"}, {"minimum", 1}, {"maximum", kMostCredit}},
                                   {{"const", kUnlimitedCredit}}};
  properties["sweep"]["type"] = "object";
  properties["sweep"]["additionalProperties"] = {{"type", "array"}, {"minItems", 1}};
  auto names = nlohmann::ordered_json::array();
  for (const Strategy& strategy : strategies()) names.push_back(strategy.name);
  properties["baseline"]["enum"] = names;
  names.push_back("all");
  for (const char* list : {"strategies", "timelines"}) properties[list]["items"]["enum"] = names;
  return schema.dump(2) + "\n";
}

}  // namespace weir
