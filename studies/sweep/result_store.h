// What the runs of a sweep came to, in SQLite. Each process that computes has a database of its own in the
// sweep's folder, which nobody else ever writes, and readers put all of them together. So nothing hangs on
// locks, which shared file systems may not have.
//
// A database that is being written is a file that hardly changes and SQLite's write-ahead log beside it, to
// which results are added, with checksums. A reader copies both and lets SQLite make of the copies what was
// committed; a tail that was being written does not count. Killed processes leave both as they are.
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
    kFailed,      // the plan is wrong, or the run
    kCrashed,     // its process did
    kLate,        // it was not done in time
  };

  std::string key;
  Status status = Status::kFailed;
  Outcome outcome;
  std::optional<std::int64_t> signal;  // that ended its process
  std::string errors;                  // what it wrote on the error stream
  std::string point;                   // "partition_size=1MB policy=fifo"
  std::string program;
  std::string host;
  std::string began;  // UTC: "2026-01-31T12:00:00.123456Z"
  double seconds = 0;

  /// Whether there is nothing to gain from computing it again.
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

/// The time, to the microsecond, as stored have it.
std::string utc_now();

/// The database of this process in the folder. A resource. What has been added is there whatever becomes of
/// the process.
class ResultStore {
 public:
  /// Of a new name.
  static Result<std::unique_ptr<ResultStore>> make(const std::string& folder, const std::string& host);
  /// The file of that name, which nobody has; for what is found already.
  static Result<std::unique_ptr<ResultStore>> make(const std::string& file);
  ResultStore(const ResultStore&) = delete;
  ResultStore& operator=(const ResultStore&) = delete;
  ~ResultStore();  // closes it

  /// The run is about to be computed.
  Result<void> begin(const std::string& key);
  Result<void> add(const StoredResult& stored_result);
  /// All of them in one transaction: as quick as one, and if it fails there is none.
  Result<void> add_all(const std::vector<const StoredResult*>& stored);
  /// Folds the log into the file, which then is one as any program expects it; nothing can be added any more.
  Result<void> close();

 private:
  ResultStore() = default;
  Result<void> prepare();

  std::unique_ptr<Database> database_;
  std::unique_ptr<Statement> begin_;
  std::unique_ptr<Statement> add_;
};

/// All databases of the folder together. A value.
struct SweepResults {
  /// By key. Of several for a key the one that is settled, or else the last.
  std::map<std::string, StoredResult> found;
  std::size_t begun = 0;  // how many computations were, in all
  std::size_t added = 0;  // and how many of those ended
  /// Why files could not be read, a line for each; the others have been.
  std::vector<std::string> unreadable;

  /// The databases in the folder, by name.
  static std::vector<std::string> files(const std::string& folder, std::error_code& error);
  /// Calls `beat` ahead of each file.
  static Result<SweepResults> read(const std::string& folder, const std::function<void()>& beat = {});

  /// Fails if some file could not be read.
  Result<void> whole() const;
};

}  // namespace weir
