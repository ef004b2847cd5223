// Files that hold a record and all that it takes to make the plan and the cluster of the run again. Programs
// other than ours read them with a few lines: a line of JSON, then plain numbers.
#pragma once

#include <cstdint>
#include <string>

#include "core/document/document.h"
#include "core/document/fields.h"
#include "core/run/record.h"

namespace weir {

/// The form that this program writes and reads; to be raised when that changes.
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
  visitor.required("weir_record", header.weir_record, "the form of the file");
  visitor.required("weir", header.weir, "the version of the program that ran it");
  visitor.required("world", header.world, "where it ran");
  visitor.required("world_settings", header.world_settings, "what that world's results depend on");
  visitor.required("strategy", header.strategy, "the strategy, or the experiment's variant of one");
  visitor.required("seed", header.seed, "the seed of the jitter");
  visitor.required("point", header.point, "the values of the sweep; empty without one");
  visitor.required("machines", header.machines, "of the cluster", at_least(1));
  visitor.required("ops", header.ops, "of the plan", at_least(1));
  visitor.required("iterations", header.iterations, "that follow, those before measuring too",
                   within(1, 20'000));
  visitor.required("warm_up", header.warm_up, "of these, how many are not measured", at_least(0));
  visitor.required("plan_hash", header.plan_hash, "by which equal plans know each other");
  visitor.required("policy", header.policy, "of dispatch");
  visitor.required("window_bytes", header.window_bytes, "that a NIC may have under way");
  visitor.required("experiment", header.experiment, "whole, with this strategy alone");
  visitor.optional(
      "measured", header.measured,
      "the topology with the rates that were measured beside the run, or that it was simulated with; "
      "null: the experiment's");
}

/// A value.
struct RecordFile {
  RecordHeader header;
  Record record;
};

/// The file's bytes: the header as one line, then for each iteration, in it for each op, `submitted`,
/// `started` and `completed` in nanoseconds since the run began, as little-endian 64-bit integers. The
/// header's numbers of ops and iterations are the record's.
std::string text(const RecordHeader& header, const Record& record);

/// Reads what text() wrote. Fails, naming the file and what is wrong, if it is no record, is of another form,
/// is cut off or too long, or holds times that no run has.
Result<RecordFile> read_record(const std::string& file);

/// Reads the first line alone.
Result<RecordHeader> read_record_header(const std::string& file);

}  // namespace weir
