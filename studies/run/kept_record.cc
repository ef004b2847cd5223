#include "studies/run/kept_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "core/base/version.h"
#include "core/cluster/topology_file.h"
#include "core/document/document.h"
#include "core/plan/hash.h"

namespace weir {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostNamed = 20;
constexpr std::string_view kRecord = "record-";
constexpr std::string_view kPrediction = "prediction-";

// "unified at topology.groups.cpu.count=4, seed 1: record-....record"
std::string words(const RecordHeader& header, const std::string& file) {
  const std::string at = header.point.empty() ? "" : " at " + header.point;
  return fmt::format("{}{}, seed {}: {}", header.strategy, at, header.seed,
                     fs::path(file).filename().string());
}

bool meant(const RecordHeader& header, const RecordChoice& choice) {
  return (choice.strategy.empty() || choice.strategy == header.strategy) &&
         (!choice.point || *choice.point == header.point) && (!choice.seed || *choice.seed == header.seed);
}

// All records in the folder, ordered by name.
std::vector<std::string> records_in(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code ignored;
  for (const auto& entry :
       fs::directory_iterator(folder, fs::directory_options::skip_permission_denied, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kRecord) && name.ends_with(".record")) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

Result<std::string> chosen(const std::string& folder, const RecordChoice& choice) {
  const std::vector<std::string> files = records_in(folder);
  if (files.empty()) {
    return failure(fmt::format("{}: holds no records; 'weir run EXPERIMENT --records' keeps them", folder));
  }
  std::vector<std::string> found;
  std::vector<std::string> all;
  std::vector<std::string> left;
  for (const std::string& file : files) {
    const auto header = read_record_header(file);
    if (!header) return tl::unexpected(header.error());
    all.push_back(words(*header, file));
    if (!meant(*header, choice)) continue;
    found.push_back(file);
    left.push_back(all.back());
  }
  if (found.size() == 1) return found.front();
  std::vector<std::string>& named = found.empty() ? all : left;
  const std::size_t count = named.size();
  named.resize(std::min(count, kMostNamed));
  return failure(
      fmt::format("{}: {} {}; choose one by its strategy, point and seed, or name its file:\n  {}{}", folder,
                  found.empty() ? "no record" : fmt::format("{} records", found.size()),
                  found.empty() ? "matches" : "match", fmt::join(named, "\n  "),
                  count > kMostNamed ? fmt::format("\n  and {} more", count - kMostNamed) : ""));
}

Result<void> check_planned(const KeptRecord& kept) {
  const Plan& plan = kept.of->plan;
  const RecordHeader& header = kept.header;
  const std::string hash = plan_hash(plan);
  const bool same = hash == header.plan_hash && static_cast<std::int64_t>(plan.ops().size()) == header.ops &&
                    static_cast<std::int64_t>(plan.machines()) == header.machines;
  if (same) return {};
  return failure(
      fmt::format("{}: Weir {} made it with plan {} of {} ops, but this Weir {} makes plan {} of {} ops from "
                  "its experiment; compare it with that version, or run the experiment again",
                  kept.file, header.weir, header.plan_hash, header.ops, version(), hash, plan.ops().size()));
}

// Checks that the measured cluster has the plan's machines and NICs: reports follow the plan's ops through
// it.
Result<void> check_machines(const KeptRecord& kept) {
  const auto alike = [](const Machine& a, const Machine& b) {
    return a.name == b.name && a.gpus.size() == b.gpus.size() && a.nics.size() == b.nics.size() &&
           a.numas.size() == b.numas.size();
  };
  const std::vector<Machine>& planned = kept.of->cluster.machines();
  const std::vector<Machine>& measured = kept.measured->machines();
  if (std::equal(planned.begin(), planned.end(), measured.begin(), measured.end(), alike)) return {};
  return failure(
      fmt::format("{}: its 'measured' topology and its experiment have different machines", kept.file));
}

// "/topology/groups/0/count" becomes "topology.groups.0.count".
std::string dotted(std::string pointer) {
  std::replace(pointer.begin(), pointer.end(), '/', '.');
  return pointer.substr(std::min<std::size_t>(1, pointer.size()));
}

std::map<std::string, std::string> flat(const Value& experiment) {
  std::map<std::string, std::string> values;
  const nlohmann::ordered_json flattened = json(experiment).flatten();
  for (const auto& [pointer, value] : flattened.items()) values[dotted(pointer)] = json_text(value);
  return values;
}

}  // namespace

Result<KeptRecord> kept_record(const std::string& path, const RecordChoice& choice) {
  std::string file = path;
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    auto found = chosen(path, choice);
    if (!found) return tl::unexpected(found.error());
    file = std::move(*found);
  }
  auto read = read_record(file);
  if (!read) return tl::unexpected(read.error());
  KeptRecord kept{file, std::move(read->header), std::make_unique<Record>(std::move(read->record)), nullptr,
                  nullptr};
  auto of = plan_run(json(kept.header.experiment).dump(), kept.header.strategy, file);
  if (!of) {
    const bool named = of.error().text.starts_with(file);
    return failure(named ? of.error().text : fmt::format("{}:1: {}", file, of.error().text));
  }
  kept.of = std::move(*of);
  if (const auto planned = check_planned(kept); !planned) return tl::unexpected(planned.error());
  if (kept.header.measured.is(Value::Kind::kNull)) return kept;
  const auto measured = read_topology(kept.header.measured, "measured");
  if (!measured) return tl::unexpected(measured.error());
  kept.measured = std::make_unique<Cluster>(*measured);
  if (const auto same = check_machines(kept); !same) return tl::unexpected(same.error());
  return kept;
}

Result<KeptRecord> kept_prediction(const KeptRecord& of) {
  const fs::path file = of.file;
  const std::string name = file.filename().string();
  const fs::path beside = file.parent_path() / (std::string(kPrediction) + name.substr(kRecord.size()));
  std::error_code ignored;
  if (!name.starts_with(kRecord) || !fs::exists(beside, ignored)) {
    return failure(
        fmt::format("{}: has no prediction next to it; 'weir run EXPERIMENT --records --on lab' or '--on "
                    "local' keeps one; or name a second record to compare it with",
                    of.file));
  }
  return kept_record(beside.string(), {});
}

std::vector<SettingDifference> setting_differences(const RecordHeader& a, const RecordHeader& b) {
  const std::map<std::string, std::string> in_a = flat(a.experiment);
  const std::map<std::string, std::string> in_b = flat(b.experiment);
  const auto value = [](const std::map<std::string, std::string>& values, const std::string& path) {
    const auto found = values.find(path);
    return found == values.end() ? std::string() : found->second;
  };
  std::map<std::string, std::string> paths = in_a;
  paths.insert(in_b.begin(), in_b.end());
  std::vector<SettingDifference> differences;
  for (const auto& [path, ignored] : paths) {
    SettingDifference one{path, value(in_a, path), value(in_b, path)};
    if (one.a != one.b) differences.push_back(std::move(one));
  }
  return differences;
}

std::string words(const std::vector<SettingDifference>& differences, std::size_t most) {
  const auto or_none = [](const std::string& value) { return value.empty() ? "nothing" : value; };
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < std::min(most, differences.size()); ++i) {
    const SettingDifference& one = differences[i];
    lines.push_back(fmt::format("{}: {} in A, {} in B", one.path, or_none(one.a), or_none(one.b)));
  }
  if (differences.size() > most) lines.push_back(fmt::format("and {} more", differences.size() - most));
  return fmt::format("{}", fmt::join(lines, "\n  "));
}

Result<void> check_alike(const KeptRecord& a, const KeptRecord& b) {
  if (a.header.plan_hash == b.header.plan_hash) return {};
  constexpr std::size_t kMostSettings = 10;
  return failure(fmt::format(
      "{} and {} are records of different plans ({} with {} ops on {} machines, and {} with {} on {}), so "
      "their ops cannot be compared. Differences:\n  {}",
      a.file, b.file, a.header.plan_hash, a.header.ops, a.header.machines, b.header.plan_hash, b.header.ops,
      b.header.machines, words(setting_differences(a.header, b.header), kMostSettings)));
}

}  // namespace weir
