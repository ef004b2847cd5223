#include "studies/sweep/result_store.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/document/fields.h"

namespace weir {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBegin = "runs-";
constexpr std::string_view kEnd = ".db";

// Commonly wanted columns of a row are separate; `outcome` holds the whole row.
constexpr const char* kTables = R"(
  CREATE TABLE computations(key TEXT NOT NULL, began TEXT NOT NULL);
  CREATE TABLE runs(key TEXT NOT NULL, status TEXT NOT NULL, point TEXT NOT NULL, strategy TEXT, seed INTEGER,
    iteration_ns INTEGER, bound_ns INTEGER, samples_per_s REAL, binding TEXT, label TEXT, label_reason TEXT,
    why TEXT NOT NULL, signal INTEGER, errors TEXT NOT NULL, outcome TEXT NOT NULL, program TEXT NOT NULL,
    host TEXT NOT NULL, began TEXT NOT NULL, seconds REAL NOT NULL))";

// A temporary folder for copies, removed at destruction.
class Scratch {
 public:
  Scratch() {
    std::error_code ignored;
    std::string name = (fs::temp_directory_path(ignored) / "weir-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Shows whether a file has changed.
struct Stamp {
  bool there = false;
  std::int64_t size = 0;
  std::int64_t changed_s = 0;
  std::int64_t changed_ns = 0;
  friend bool operator==(const Stamp&, const Stamp&) = default;
};

Stamp stamp_of(const std::string& file) {
  struct stat about {};
  if (::stat(file.c_str(), &about) != 0) return {};
  return {true, about.st_size, about.st_mtim.tv_sec, about.st_mtim.tv_nsec};
}

std::string bytes_of(const std::string& file, std::size_t most = std::string::npos) {
  std::ifstream stream(file, std::ios::binary);
  if (most == std::string::npos) return {std::istreambuf_iterator<char>(stream), {}};
  std::string bytes(most, '\0');
  stream.read(bytes.data(), static_cast<std::streamsize>(most));
  bytes.resize(static_cast<std::size_t>(stream.gcount()));
  return bytes;
}

// Copies the database and its log as of one moment. The file changes only when SQLite merges the log into it,
// and only afterwards does the log start anew, with another header. So the copies belong together if neither
// happened meanwhile.
Result<std::string> copy_of(const std::string& file, const std::string& folder) {
  constexpr std::size_t kHeader = 32;
  constexpr int kTries = 200;
  constexpr std::chrono::milliseconds kPause(25);
  const std::string log = file + "-wal";
  for (int i = 0; i < kTries; ++i, std::this_thread::sleep_for(kPause)) {
    const Stamp before = stamp_of(file);
    const bool logged = stamp_of(log).there;
    const std::string log_bytes = bytes_of(log);
    const std::string bytes = bytes_of(file);
    const bool same = stamp_of(log).there == logged && stamp_of(file) == before &&
                      bytes_of(log, kHeader) == log_bytes.substr(0, kHeader);
    if (!same) continue;
    const std::string copy = fmt::format("{}/{}", folder, fs::path(file).filename().string());
    for (const auto& [name, content] : {std::pair(copy, &bytes), {copy + "-wal", &log_bytes}}) {
      std::ofstream stream(name, std::ios::binary);
      if (!stream.write(content->data(), static_cast<std::streamsize>(content->size())).flush())
        return failure(fmt::format("{}: cannot be written", name));
    }
    if (log_bytes.empty()) fs::remove(copy + "-wal");
    return copy;
  }
  return failure(fmt::format("{}: it changed again and again while it was read", file));
}

StoredResult finding_from(const Statement& row) {
  StoredResult stored_result;
  stored_result.key = row.text(0);
  for (const auto& named : enum_names(StoredResult::Status{}))
    if (named.name == row.text(1)) stored_result.status = named.value;
  stored_result.outcome = outcome_from(row.text(2));
  if (!row.is_null(3)) stored_result.signal = row.integer(3);
  stored_result.errors = row.text(4);
  stored_result.point = row.text(5);
  stored_result.program = row.text(6);
  stored_result.host = row.text(7);
  stored_result.began = row.text(8);
  stored_result.seconds = row.number(9);
  stored_result.outcome.row.strategy = row.text(10);  // outcomes without a row do not contain these
  stored_result.outcome.row.seed = static_cast<std::uint64_t>(row.integer(11));
  return stored_result;
}

bool better(const StoredResult& one, const StoredResult& other) {
  if (one.settled() != other.settled()) return one.settled();
  return one.settled() ? one.began < other.began : one.began > other.began;
}

Result<std::int64_t> number_of(Database& database, std::string_view question) {
  const auto statement = database.prepare(question);
  if (!statement) return tl::unexpected(statement.error());
  const auto found = (*statement)->step();
  if (!found) return tl::unexpected(found.error());
  return (*statement)->integer(0);
}

Result<void> read_copy(const std::string& copy, const std::string& file, SweepResults& into) {
  const auto database = Database::open(copy, Database::Mode::kRead, file);
  if (!database) return tl::unexpected(database.error());
  const auto tables =
      number_of(**database, "SELECT count(*) FROM sqlite_master WHERE name IN ('runs', 'computations')");
  if (!tables) return tl::unexpected(tables.error());
  if (*tables < 2) return {};  // its maker was killed at once, or is still at work
  const auto begun = number_of(**database, "SELECT count(*) FROM computations");
  if (!begun) return tl::unexpected(begun.error());
  into.begun += static_cast<std::size_t>(*begun);
  const auto rows = (*database)->prepare(
      "SELECT key, status, outcome, signal, errors, point, program, host, began, seconds, strategy, seed "
      "FROM runs");
  if (!rows) return tl::unexpected(rows.error());
  while (true) {
    const auto more = (*rows)->step();
    if (!more) return tl::unexpected(more.error());
    if (!*more) return {};
    ++into.added;
    StoredResult stored_result = finding_from(**rows);
    const auto known = into.found.find(stored_result.key);
    if (known == into.found.end()) {
      into.found.emplace(stored_result.key, std::move(stored_result));
    } else if (better(stored_result, known->second)) {
      known->second = std::move(stored_result);
    }
  }
}

}  // namespace

std::string utc_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  const std::time_t seconds = us / 1'000'000;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[32];
  const std::size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  return fmt::format("{}.{:06}Z", std::string_view(text, size), us % 1'000'000);
}

Result<std::unique_ptr<ResultStore>> ResultStore::make(const std::string& folder, const std::string& host) {
  std::string when = utc_now();
  when.erase(std::remove(when.begin(), when.end(), ':'), when.end());
  return make(fmt::format("{}/{}{}-{}-{}{}", folder, kBegin, when, host, ::getpid(), kEnd));
}

Result<std::unique_ptr<ResultStore>> ResultStore::make(const std::string& file) {
  std::unique_ptr<ResultStore> made(new ResultStore());
  auto database = Database::open(file, Database::Mode::kMake, file);
  if (!database) return tl::unexpected(database.error());
  made->database_ = std::move(*database);
  if (const auto prepared = made->prepare(); !prepared) return tl::unexpected(prepared.error());
  return made;
}

Result<void> ResultStore::prepare() {
  // Exclusive: then the log needs no memory shared between processes, which network file systems lack. Full:
  // what is committed has reached the disk or the server.
  auto made = database_->run(
      fmt::format("PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; "
                  "BEGIN; {}; COMMIT",
                  kTables));
  if (!made) return made;
  auto begin = database_->prepare("INSERT INTO computations VALUES(?, ?)");
  if (!begin) return tl::unexpected(begin.error());
  begin_ = std::move(*begin);
  auto add = database_->prepare("INSERT INTO runs VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
  if (!add) return tl::unexpected(add.error());
  add_ = std::move(*add);
  return {};
}

ResultStore::~ResultStore() { (void)close(); }

Result<void> ResultStore::close() {
  begin_.reset();
  add_.reset();
  const std::unique_ptr<Database> database = std::move(database_);
  return database ? database->run("PRAGMA journal_mode=DELETE") : Result<void>();
}

Result<void> ResultStore::begin(const std::string& key) {
  begin_->bind(1, key);
  begin_->bind(2, utc_now());
  const auto done = begin_->step();
  if (!done) return tl::unexpected(done.error());
  return {};
}

Result<void> ResultStore::add(const StoredResult& stored_result) {
  const Outcome& outcome = stored_result.outcome;
  int at = 0;
  const auto put = [&](const auto& value) { add_->bind(++at, value); };
  put(stored_result.key);
  put(std::string(enum_name(stored_result.status)));
  put(stored_result.point);
  put(outcome.row.strategy);
  put(static_cast<std::int64_t>(outcome.row.seed));
  if (outcome.kind == Outcome::Kind::kRow) {
    put(outcome.row.iteration_ns);
    put(outcome.row.bound_ns);
    put(outcome.row.samples_per_s);
    put(outcome.row.binding);
    put(outcome.row.label);
    put(outcome.row.label_reason);
  } else {
    at += 6;  // null
  }
  put(outcome.text);
  put(stored_result.signal);
  put(stored_result.errors);
  put(text(outcome));
  put(stored_result.program);
  put(stored_result.host);
  put(stored_result.began);
  put(stored_result.seconds);
  const auto done = add_->step();
  if (!done) return tl::unexpected(done.error());
  return {};
}

Result<void> ResultStore::add_all(const std::vector<const StoredResult*>& stored) {
  if (auto begun = database_->run("BEGIN"); !begun) return begun;
  for (const StoredResult* stored_result : stored) {
    if (auto added = add(*stored_result); !added) {
      (void)database_->run("ROLLBACK");
      return added;
    }
  }
  return database_->run("COMMIT");
}

std::vector<std::string> SweepResults::files(const std::string& folder, std::error_code& error) {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kBegin) && name.ends_with(kEnd)) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

Result<SweepResults> SweepResults::read(const std::string& folder, const std::function<void()>& beat) {
  const Scratch scratch;
  if (scratch.path().empty()) return failure("there is no folder for temporary files; set TMPDIR to one");
  std::error_code error;
  const std::vector<std::string> files = SweepResults::files(folder, error);
  if (error) return failure(fmt::format("{}: {}", folder, error.message()));
  SweepResults stored;
  for (const std::string& file : files) {
    if (beat) beat();
    const auto copy = copy_of(file, scratch.path());
    const auto read = copy ? read_copy(*copy, file, stored) : tl::unexpected(copy.error());
    if (copy) fs::remove(*copy, error);
    if (copy) fs::remove(*copy + "-wal", error);
    if (!read) stored.unreadable.push_back(read.error().text);
  }
  return stored;
}

Result<void> SweepResults::whole() const {
  if (unreadable.empty()) return {};
  return failure(fmt::format("{}", fmt::join(unreadable, "\n")));
}

}  // namespace weir
