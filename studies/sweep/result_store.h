// The results of a sweep's runs, in SQLite. Each computing process has its own database in the sweep's
// folder, which nobody else ever writes; readers combine them all. So nothing depends on locks, which shared
// file systems may lack.
//
// A database that is being written consists of a file that hardly changes and SQLite's write-ahead log, which
// receives the results with checksums. A reader copies both and lets SQLite recover what was committed; an
// unfinished tail does not count. Killed processes leave both as they are.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "studies/run/trial.h"
#include "studies/sweep/database.h"

namespace weir {

/// How a run ended.
struct StoredResult {
  enum class Status {
    kDone,        // there is a row
    kImpossible,  // the strategy has no plan for it
    kFailed,      // the plan is wrong, or the run failed
    kCrashed,     // its process crashed
    kLate,        // it exceeded the deadline
  };

  std::string key;
  Status status = Status::kFailed;
  Outcome outcome;
  std::optional<std::int64_t> signal;  // that ended its process
  std::string errors;                  // what it wrote to the error stream
  std::string point;                   // "partition_size=1MB policy=fifo"
  std::string program;
  std::string host;
  std::string began;  // UTC: "2026-01-31T12:00:00.123456Z"
  double seconds = 0;

  /// Whether computing it again would gain nothing.
  bool settled() const { return status == Status::kDone || status == Status::kImpossible; }
};

constexpr auto enum_names(StoredResult::Status /*status*/) {
  using Status = StoredResult::Status;
  return std::array<Named<Status>, 5>{{{Status::kDone, "done"},
                                       {Status::kImpossible, "impossible"},
                                       {Status::kFailed, "failed"},
                                       {Status::kCrashed, "crashed"},
                                       {Status::kLate, "late"}}};
}

/// The current time to the microsecond, in the form of stored results.
std::string utc_now();

/// This process's database in the folder. A resource. Added results survive whatever happens to the process.
class ResultStore {
 public:
  /// Makes a database with a new name.
  static Result<std::unique_ptr<ResultStore>> make(const std::string& folder, const std::string& host);
  /// Makes the file with this name, which must not exist; for results that exist already.
  static Result<std::unique_ptr<ResultStore>> make(const std::string& file);
  ResultStore(const ResultStore&) = delete;
  ResultStore& operator=(const ResultStore&) = delete;
  ~ResultStore();  // closes it

  /// Notes that the run is about to be computed.
  Result<void> begin(const std::string& key);
  Result<void> add(const StoredResult& stored_result);
  /// Adds all in one transaction, which is as quick as one; if it fails, none is added.
  Result<void> add_all(const std::vector<const StoredResult*>& stored);
  /// Merges the log into the file, which any program can then read. Nothing can be added afterwards.
  Result<void> close();

 private:
  ResultStore() = default;
  Result<void> prepare();

  std::unique_ptr<Database> database_;
  std::unique_ptr<Statement> begin_;
  std::unique_ptr<Statement> add_;
};

/// The content of all databases of the folder. A value.
struct SweepResults {
  /// By key. If a key has several results: the settled one, or else the last.
  std::map<std::string, StoredResult> found;
  std::size_t begun = 0;  // number of computations begun
  std::size_t added = 0;  // number of these that ended
  /// Why files could not be read, one line for each; all others were read.
  std::vector<std::string> unreadable;

  /// The databases in the folder, ordered by name.
  static std::vector<std::string> files(const std::string& folder, std::error_code& error);
  /// Calls `beat` before each file.
  static Result<SweepResults> read(const std::string& folder, const std::function<void()>& beat = {});

  /// Fails if any file could not be read.
  Result<void> whole() const;
};

}  // namespace weir
