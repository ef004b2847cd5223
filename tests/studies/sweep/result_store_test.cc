#include "studies/sweep/result_store.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>

#include "tests/catch.h"
#include "tests/core/experiment/folder.h"

namespace weir {
namespace {

StoredResult stored_result(const std::string& key, std::int64_t iteration_ns = 7) {
  StoredResult made;
  made.key = key;
  made.status = StoredResult::Status::kDone;
  made.outcome.kind = Outcome::Kind::kRow;
  made.outcome.row.strategy = "ring";
  made.outcome.row.iteration_ns = iteration_ns;
  made.began = utc_now();
  return made;
}

std::string log_in(const Folder& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    if (entry.path().extension() == ".db-wal") return entry.path().string();
  return {};
}

TEST_CASE("added results can be read while their file is open, and afterwards") {
  const Folder folder;
  CHECK(SweepResults::read(folder.path()).value().found.empty());
  {
    const auto file = ResultStore::make(folder.path(), "host").value();
    REQUIRE(file->begin("a"));
    REQUIRE(file->add(stored_result("a", 42)));
    REQUIRE(file->begin("b"));
    const SweepResults open = SweepResults::read(folder.path()).value();
    CHECK(open.begun == 2);
    CHECK(open.added == 1);
    CHECK(open.found.at("a").outcome.row.iteration_ns == 42);
  }
  CHECK(log_in(folder).empty());
  CHECK(SweepResults::read(folder.path()).value().found.size() == 1);
  CHECK_FALSE(SweepResults::read(folder.path() + "/nowhere"));
}

TEST_CASE("results that are added together are all stored, or none of them") {
  const Folder folder;
  const auto file = ResultStore::make(folder.path(), "host").value();
  const StoredResult first = stored_result("a");
  const StoredResult second = stored_result("b");
  StoredResult wrong = stored_result("c");
  wrong.seconds = std::numeric_limits<double>::quiet_NaN();  // SQLite stores this as null
  CHECK_FALSE(file->add_all({&first, &wrong, &second}));
  CHECK(SweepResults::read(folder.path()).value().found.empty());
  REQUIRE(file->add_all({&first, &second}));
  CHECK(SweepResults::read(folder.path()).value().found.size() == 2);
}

TEST_CASE("a process that is killed at any time loses none of its added results, and is read meanwhile") {
  const Folder folder;
  int numbers[2];
  REQUIRE(::pipe(numbers) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto file = ResultStore::make(folder.path(), "host");
    for (int i = 0; file && i < 1'000'000; ++i) {
      if (!(*file)->add(stored_result(std::to_string(i)))) break;
      (void)!::write(numbers[1], &i, sizeof i);
    }
    ::_exit(1);
  }
  int last = -1;
  std::size_t before = 0;
  constexpr int kEnough = 2500;  // enough to fold the log into the file several times
  while (last < kEnough) {
    REQUIRE(::read(numbers[0], &last, sizeof last) == sizeof last);
    if (last % 100 != 0) continue;
    const SweepResults seen = SweepResults::read(folder.path()).value();
    CHECK(seen.unreadable.empty());
    CHECK(seen.found.size() >= before);
    CHECK(seen.found.size() >= static_cast<std::size_t>(last) + 1);
    before = seen.found.size();
  }
  ::kill(child, SIGKILL);
  REQUIRE(::waitpid(child, nullptr, 0) == child);
  ::close(numbers[1]);
  while (::read(numbers[0], &last, sizeof last) == sizeof last) {
  }
  const SweepResults left = SweepResults::read(folder.path()).value();
  CHECK(left.found.size() >= static_cast<std::size_t>(last) + 1);
  CHECK(left.added == left.found.size());
}

TEST_CASE("an unfinished tail of a log does not count, and a damaged file does not stop the others") {
  const Folder folder;
  const auto file = ResultStore::make(folder.path(), "host").value();
  for (int i = 0; i < 20; ++i) REQUIRE(file->add(stored_result(std::to_string(i))));
  const std::string log = log_in(folder);
  // As if a writer's last bytes had not arrived; each copy is shorter.
  const Folder copies;
  const std::string copy = copies.path() + "/runs-x.db";
  std::filesystem::copy_file(log.substr(0, log.size() - 4), copy);
  std::size_t before = 20;
  for (auto size = std::filesystem::file_size(log); size > 0; size -= std::min<std::uintmax_t>(size, 3001)) {
    std::filesystem::copy_file(log, copy + "-wal", std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(copy + "-wal", size);
    const SweepResults cut = SweepResults::read(copies.path()).value();
    CHECK(cut.unreadable.empty());
    CHECK(cut.found.size() <= before);
    before = cut.found.size();
  }
  CHECK(before == 0);
  std::ofstream(folder.path() + "/runs-damaged.db") << std::string(5000, 'x');
  const SweepResults with = SweepResults::read(folder.path()).value();
  CHECK(with.found.size() == 20);
  REQUIRE(with.unreadable.size() == 1);
  CHECK(with.unreadable.front() == folder.path() + "/runs-damaged.db: file is not a database");
  CHECK_FALSE(with.whole());
}

TEST_CASE("of several entries of one run the one with a result counts, or else the last") {
  const Folder folder;
  const auto one = ResultStore::make(folder.path(), "one").value();
  const auto two = ResultStore::make(folder.path(), "two").value();
  StoredResult crashed = stored_result("a");
  crashed.status = StoredResult::Status::kCrashed;
  crashed.outcome = {Outcome::Kind::kFailed, {}, "its process crashed: signal 11"};
  crashed.signal = 11;
  crashed.errors = "check failed";
  REQUIRE(two->add(crashed));
  crashed.key = "b";
  REQUIRE(two->add(crashed));
  REQUIRE(one->add(stored_result("a", 5)));
  const SweepResults read = SweepResults::read(folder.path()).value();
  CHECK(read.found.at("a").outcome.row.iteration_ns == 5);
  CHECK(read.found.at("b").signal == 11);
  CHECK(read.found.at("b").errors == "check failed");
  CHECK(read.found.at("b").outcome.text == "its process crashed: signal 11");
  CHECK(read.added == 3);
}

}  // namespace
}  // namespace weir
