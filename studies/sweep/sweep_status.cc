#include "studies/sweep/sweep_status.h"

#include <fmt/format.h>

#include <filesystem>

#include "studies/output/files.h"
#include "studies/sweep/sweep_folder.h"

namespace weir {
namespace {

// Writes the results of the design's runs, each once.
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

std::size_t SweepStatus::count() const {
  std::size_t sum = 0;
  for (const auto& [status, number] : ended) sum += number;
  return sum;
}

Result<SweepStatus> sweep_status(const std::string& folder) {
  const auto sweep = SweepFolder::read(folder);
  if (!sweep) return tl::unexpected(sweep.error());
  SweepStatus status;
  status.file = sweep->design.study.file;
  status.points = sweep->design.study.points.size();
  double seconds = 0;  // of all ended runs together
  for (const std::size_t run : sweep->design.distinct()) {
    const StoredResult* stored_result = sweep->stored_result(run);
    if (stored_result == nullptr) {
      ++status.left;
    } else {
      ++status.ended[stored_result->status];
      seconds += stored_result->seconds;
    }
  }
  const std::size_t count = status.count();
  status.strangers = sweep->stored.found.size() - count;
  if (const auto whole = sweep->stored.whole(); !whole) status.unreadable = whole.error();
  status.workers = workers_in(folder);
  std::int64_t jobs = 0;
  for (const Worker& worker : status.workers) jobs += worker.jobs;
  if (status.left > 0 && count > 0 && jobs > 0) {
    const double mean = seconds / static_cast<double>(count);
    status.to_go =
        Duration::from_seconds(mean * static_cast<double>(status.left) / static_cast<double>(jobs));
  }
  return status;
}

Studied<void> export_sweep(const std::string& folder, const std::string& file) {
  const auto sweep = SweepFolder::read(folder);
  if (!sweep) return wrong_input(sweep.error());
  if (const auto whole = sweep->stored.whole(); !whole) {
    return wrong_input(whole.error().text +
                       "\nthe results in these files would be missing; repair the files, or move them away");
  }
  if (const auto apart = check_no_input(file, sweep->files(folder)); !apart)
    return wrong_input(apart.error());
  const std::string ending = std::filesystem::path(file).extension().string();
  Result<void> written;
  if (ending == ".csv") {
    written = write_text(file, sweep->results(folder).csv());
  } else if (ending == ".json") {
    written = write_text(file, sweep->results(folder).json());
  } else if (ending == ".db") {
    written = write_database(file, *sweep);
  } else {
    return wrong_input(fmt::format("{}: the name of the file must end in .csv, .json or .db", file));
  }
  if (!written) return tl::unexpected(StudyError(written.error()));
  return {};
}

}  // namespace weir
