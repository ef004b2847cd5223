#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/hash.h"
#include "core/cluster/topology_file.h"
#include "core/document/document.h"
#include "core/document/schema.h"
#include "core/document/write_fields.h"
#include "core/experiment/experiment_fields.h"
#include "core/experiment/experiment_file.h"
#include "core/strategies/strategy.h"
#include "core/workload/trace_file.h"

namespace weir {
namespace {

HashedText hashed(const nlohmann::ordered_json& written) {
  std::string text = json_text(written);
  return {hash_of(text), std::move(text)};
}

}  // namespace

nlohmann::ordered_json write_experiment(const Experiment& experiment) {
  ExperimentText text;
  text.experiment = experiment;
  text.credit = credit_of(experiment.options);
  text.strategies = Value::array();
  for (const std::string& name : experiment.strategies) {
    const auto variant = experiment.variants.find(name);
    text.strategies.append(variant == experiment.variants.end() ? Value(name) : variant->second.given);
  }
  for (const OtherJob& job : experiment.other_jobs)
    text.other_jobs.push_back({job, Value(), credit_of(job.options)});
  nlohmann::ordered_json written = write_fields(text);
  for (std::size_t i = 0; i < experiment.other_jobs.size(); ++i)
    written["other_jobs"][i]["trace"] = write_trace(experiment.other_jobs[i].trace);
  for (const char* points : {"sweep", "sweep_by", "samples"}) written.erase(points);
  written["topology"] = hashed(experiment.topology).hash;
  written["trace"] = hashed(experiment.trace).hash;
  return written;
}

nlohmann::ordered_json write_options(const Options& options) {
  nlohmann::ordered_json written = write_fields(VariantText{"", "", options, credit_of(options)});
  written.erase("name");
  written.erase("as");
  return written;
}

std::string whole_text(const Experiment& experiment, const std::string& contender) {
  Experiment alone = experiment;
  alone.strategies = {contender};
  alone.baseline = contender;
  alone.timelines.clear();
  alone.published.reset();
  nlohmann::ordered_json written = write_experiment(alone);
  written["topology"] = write_topology(experiment.topology);
  written["trace"] = write_trace(experiment.trace);
  return json_text(written);
}

HashedText hashed(const Topology& topology) { return hashed(write_topology(topology)); }

HashedText hashed(const Trace& trace) { return hashed(write_trace(trace)); }

std::string experiment_schema() {
  // Our own text, so it parses. "Any JSON" is narrowed to what the check accepts.
  auto schema =
      nlohmann::ordered_json::parse(schema_text<ExperimentText>("A Weir experiment"), nullptr, false);
  nlohmann::ordered_json& properties = schema["properties"];
  const nlohmann::ordered_json part = {{{"type", "string"}}, {{"type", "object"}}};
  properties["topology"]["anyOf"] = part;
  properties["trace"]["anyOf"] = part;
  const nlohmann::ordered_json credit = credit_schema();
  properties["credit"]["anyOf"] = credit;
  properties["sweep"]["type"] = "object";
  const nlohmann::ordered_json list = {{"type", "array"}, {"minItems", 1}};
  properties["sweep"]["additionalProperties"] = list;
  nlohmann::ordered_json& over = properties["samples"]["anyOf"][0]["properties"]["over"];
  over["type"] = "object";
  over["minProperties"] = 1;
  over["additionalProperties"]["anyOf"] = {list, SchemaWriter::schema<SampleRange>()};
  auto names = nlohmann::ordered_json::array();
  for (const Strategy& strategy : strategies()) names.push_back(strategy.name);
  nlohmann::ordered_json& job = properties["other_jobs"]["items"]["properties"];
  job["trace"]["anyOf"] = part;
  job["strategy"]["enum"] = names;
  job["credit"]["anyOf"] = credit;
  // An object gives a strategy a name and options of its own; what it leaves out comes from the experiment.
  nlohmann::ordered_json variant = SchemaWriter::schema<VariantText>();
  variant["properties"]["name"]["enum"] = names;
  variant["properties"]["credit"]["anyOf"] = credit;
  for (auto& [name, property] : variant["properties"].items()) property.erase("default");
  names.push_back("all");
  properties["strategies"]["type"] = "array";
  properties["strategies"]["minItems"] = 1;
  properties["strategies"]["items"]["anyOf"] = {{{"enum", names}}, variant};
  return schema.dump(2) + "\n";
}

}  // namespace weir
