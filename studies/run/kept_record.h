// Records that runs have kept, read with the plan and the cluster that they are of, for weir compare.
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

/// Which record of a folder is meant; what is not said may be anything.
struct RecordChoice {
  std::string strategy;
  std::optional<std::string> point;  // "cpu.count=4 partition_size=1MB", as tables and results have it
  std::optional<std::uint64_t> seed;
};

/// A record with what it is of, made anew. Moves; what it refers to stays where it is.
struct KeptRecord {
  std::string file;
  RecordHeader header;
  std::unique_ptr<Record> record;
  std::unique_ptr<PlannedRun> of;
  std::unique_ptr<Cluster> measured;  // if the header has one

  /// With the rates that the run is judged by.
  const Cluster& cluster() const { return measured ? *measured : of->cluster; }
  Recorded recorded() const {
    return {of->plan, cluster(), of->workload, *record, static_cast<int>(header.warm_up)};
  }
};

/// The record in the file, or the one that is meant among those of the folder. Fails if there is not just
/// one, and names them then; if the file is broken; or if this program plans its run otherwise.
Result<KeptRecord> kept_record(const std::string& path, const RecordChoice& choice);

/// The record of the prediction that the run of this record, a file or one of a folder's, was kept with.
Result<KeptRecord> kept_prediction(const KeptRecord& of);

/// A setting in which two runs differ: its path as for --set, and its values as JSON, empty where there is
/// none.
struct SettingDifference {
  std::string path;
  std::string a;
  std::string b;
};
std::vector<SettingDifference> setting_differences(const RecordHeader& a, const RecordHeader& b);

/// The most important of these, in words, at most `most` of them.
std::string words(const std::vector<SettingDifference>& differences, std::size_t most);

/// Fails if the two are of different plans, naming the settings that differ.
Result<void> check_alike(const KeptRecord& a, const KeptRecord& b);

}  // namespace weir
