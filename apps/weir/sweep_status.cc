#include "apps/weir/sweep_status.h"

#include <fmt/format.h>

#include <filesystem>

#include "apps/weir/options/input.h"
#include "apps/weir/text/output.h"
#include "core/base/units_text.h"
#include "studies/output/files.h"
#include "studies/sweep/active_workers.h"
#include "studies/sweep/sweep_folder.h"

namespace weir {
namespace {

struct Tally {
  std::map<StoredResult::Status, std::size_t> ended;
  std::size_t left = 0;
  double seconds = 0;  // of all that ended together

  std::size_t count() const {
    std::size_t sum = 0;
    for (const auto& [status, number] : ended) sum += number;
    return sum;
  }
};

Tally tally_of(const SweepFolder& sweep) {
  Tally tally;
  for (const std::size_t run : sweep.design.distinct()) {
    const StoredResult* stored_result = sweep.stored_result(run);
    if (stored_result == nullptr) {
      ++tally.left;
    } else {
      ++tally.ended[stored_result->status];
      tally.seconds += stored_result->seconds;
    }
  }
  return tally;
}

// Those of the design, each once.
Result<void> write_database(const std::string& file, const SweepFolder& sweep) {
  const std::string aside = unfinished(file);
  std::error_code error;
  std::filesystem::remove(aside, error);
  {
    const auto database = ResultStore::make(aside);
    if (!database) return tl::unexpected(database.error());
    std::vector<const StoredResult*> stored;
    for (const std::size_t run : sweep.design.distinct()) {
      if (const StoredResult* stored_result = sweep.stored_result(run)) stored.push_back(stored_result);
    }
    if (auto added = (*database)->add_all(stored); !added) return added;
    if (auto closed = (*database)->close(); !closed) return closed;
  }
  std::filesystem::rename(aside, file, error);
  if (error) return failure(fmt::format("{}: cannot be written: {}", file, error.message()));
  return {};
}

}  // namespace

Result<ExitStatus> show_status(const std::string& folder) {
  const auto sweep = SweepFolder::read(folder);
  if (!sweep) return wrong("sweep", sweep.error());
  const Tally tally = tally_of(*sweep);
  const Study& study = sweep->design.study;
  print("{}: {} points, {} runs\n", study.file, study.points.size(), tally.count() + tally.left);
  for (const auto& named : enum_names(StoredResult::Status{})) {
    const auto found = tally.ended.find(named.value);
    if (found != tally.ended.end()) print("{:>8} {}\n", found->second, named.name);
  }
  print("{:>8} left\n", tally.left);
  const auto whole = sweep->stored.whole();
  const std::vector<Worker> workers = workers_in(folder);
  std::int64_t jobs = 0;
  for (const Worker& worker : workers) {
    jobs += worker.jobs;
    print("at work: process {} on {}, share {}, {} at once\n", worker.process, worker.host,
          text(Share{worker.share_index, worker.share_count}), worker.jobs);
  }
  if (tally.left > 0 && tally.count() > 0 && jobs > 0) {
    const double mean = tally.seconds / static_cast<double>(tally.count());
    print("about {} to go\n", rounded(Duration::from_seconds(mean * static_cast<double>(tally.left) /
                                                             static_cast<double>(jobs))));
  } else if (tally.left > 0 && workers.empty()) {
    print("nobody is at work{}\n", whole ? "; the command that began it goes on" : "");
  }
  const std::size_t strangers = sweep->stored.found.size() - tally.count();
  if (strangers > 0) print("beside {} results of other designs or programs\n", strangers);
  if (!whole) return wrong("sweep", whole.error());
  return kExitWell;
}

Result<ExitStatus> export_runs(const std::string& folder, const std::string& file) {
  const auto sweep = SweepFolder::read(folder);
  if (!sweep) return wrong("sweep", sweep.error());
  if (const auto whole = sweep->stored.whole(); !whole) {
    return wrong("sweep", Error{whole.error().text +
                                "\nwhat these files hold would be missing; mend what is wrong, or move them "
                                "away"});
  }
  if (const auto apart = check_no_input(file, sweep->files(folder)); !apart)
    return wrong("sweep", apart.error());
  const std::string ending = std::filesystem::path(file).extension().string();
  Result<void> written;
  if (ending == ".csv") {
    written = write_text(file, sweep->results(folder).csv());
  } else if (ending == ".json") {
    written = write_text(file, sweep->results(folder).json());
  } else if (ending == ".db") {
    written = write_database(file, *sweep);
  } else {
    return wrong("sweep", Error{fmt::format("--export: '{}' ends in none of .csv, .json and .db", file)});
  }
  if (!written) return tl::unexpected(written.error());
  return kExitWell;
}

}  // namespace weir
