// Files that hold a record and everything needed to rebuild the plan and the cluster of the run. The format
// is simple for other programs to read: one line of JSON, then plain numbers.
#pragma once

#include <cstdint>
#include <string>

#include "core/document/document.h"
#include "core/document/fields.h"
#include "core/run/record.h"

namespace weir {

/// The format version that this program writes and reads. Raise it when the format changes.
constexpr std::int64_t kRecordFormat = 1;

/// The first line of a record file.
struct RecordHeader {
  std::int64_t weir_record = kRecordFormat;
  std::string weir;
  std::string world;
  std::string world_settings;
  std::string strategy;
  std::uint64_t seed = 1;
  std::string point;
  std::int64_t machines = 0;
  std::int64_t ops = 0;
  std::int64_t iterations = 0;
  std::int64_t warm_up = 0;
  std::string plan_hash;
  std::string policy;
  std::int64_t window_bytes = 0;
  Value experiment;
  Value measured;
};

template <class Visitor>
void fields(Visitor& visitor, RecordHeader& header) {
  visitor.required("weir_record", header.weir_record, "the version of the file format");
  visitor.required("weir", header.weir, "the version of the program that made the run");
  visitor.required("world", header.world, "the world of the run");
  visitor.required("world_settings", header.world_settings,
                   "the settings that the results of that world depend on");
  visitor.required("strategy", header.strategy, "the strategy, or a variant that the experiment names");
  visitor.required("seed", header.seed, "the seed of the jitter");
  visitor.required("point", header.point, "the values of the sweep; empty without one");
  visitor.required("machines", header.machines, "the number of machines in the cluster", at_least(1));
  visitor.required("ops", header.ops, "the number of ops in the plan", at_least(1));
  visitor.required("iterations", header.iterations, "the number of iterations that follow, warm-up included",
                   within(1, 20'000));
  visitor.required("warm_up", header.warm_up, "how many iterations at the start are not measured",
                   at_least(0));
  visitor.required("plan_hash", header.plan_hash, "a hash that is equal for equal plans");
  visitor.required("policy", header.policy, "the dispatch policy");
  visitor.required("window_bytes", header.window_bytes, "the most bytes that a NIC may have in flight");
  visitor.required("experiment", header.experiment, "the whole experiment, with this strategy only");
  visitor.optional(
      "measured", header.measured,
      "the topology with the rates measured during the run, or with the rates of the simulation; "
      "null: the topology of the experiment");
}

/// A value.
struct RecordFile {
  RecordHeader header;
  Record record;
};

/// The content of the file. The header is one line. Then come, for each iteration and each op in it,
/// `submitted`, `started` and `completed`, in nanoseconds since the run began, as little-endian 64-bit
/// integers. The header must have the record's numbers of ops and iterations.
std::string text(const RecordHeader& header, const Record& record);

/// Reads what text() wrote. Fails if the file is not a record, has another format, is cut off or too long, or
/// holds impossible times. The error names the file and what is wrong.
Result<RecordFile> read_record(const std::string& file);

/// Reads only the first line.
Result<RecordHeader> read_record_header(const std::string& file);

}  // namespace weir
