// Reads records that runs kept, together with their plan and cluster, for weir compare.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/compare/difference.h"
#include "core/experiment/planned_run.h"
#include "core/run/record_file.h"

namespace weir {

/// Selects a record of a folder; empty fields match anything.
struct RecordChoice {
  std::string strategy;
  std::optional<std::string> point;  // "cpu.count=4 partition_size=1MB", as in tables and results
  std::optional<std::uint64_t> seed;
};

/// A record, with its plan and cluster made anew. Moves; what it refers to stays in place.
struct KeptRecord {
  std::string file;
  RecordHeader header;
  std::unique_ptr<Record> record;
  std::unique_ptr<PlannedRun> of;
  std::unique_ptr<Cluster> measured;  // if the header has one

  /// The cluster with the rates by which the run is judged.
  const Cluster& cluster() const { return measured ? *measured : of->cluster; }
  Recorded recorded() const {
    return {of->plan, cluster(), of->workload, *record, static_cast<int>(header.warm_up)};
  }
};

/// The record in the file, or the selected one in the folder. Fails if there is not exactly one (and names
/// them), if the file is broken, or if this program plans the run differently.
Result<KeptRecord> kept_record(const std::string& path, const RecordChoice& choice);

/// The record of the prediction that was kept together with this run, in a file or a folder.
Result<KeptRecord> kept_prediction(const KeptRecord& of);

/// A setting in which two runs differ: its path as for --set, and its values as JSON, empty if absent.
struct SettingDifference {
  std::string path;
  std::string a;
  std::string b;
};
std::vector<SettingDifference> setting_differences(const RecordHeader& a, const RecordHeader& b);

/// The most important differences in words, at most `most` of them.
std::string words(const std::vector<SettingDifference>& differences, std::size_t most);

/// Fails if the two belong to different plans, and names the settings that differ.
Result<void> check_alike(const KeptRecord& a, const KeptRecord& b);

}  // namespace weir
