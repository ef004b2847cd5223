#include "studies/run/result_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "studies/output/files.h"

namespace weir {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTable = "results.csv";
constexpr const char* kJson = "results.json";
constexpr const char* kPublished = "published.csv";

// The figures that plots/plot.py draws, besides timelines.
constexpr const char* kFigures[] = {"speedup", "goodput",  "iteration", "breakdown",
                                    "links",   "overview", "published"};

// A kind of file that a run leaves, and the row's member for its name.
struct Kept {
  std::string_view member;
  std::string_view begin;
  std::string_view end;
  std::string Trial::*file;
};
constexpr Kept kKept[] = {{"timeline", "timeline-", ".json", &Trial::timeline},
                          {"record", "record-", ".record", &Trial::record},
                          {"prediction", "prediction-", ".record", &Trial::prediction}};

// The files of this kind that the results in the folder name.
std::vector<std::string> files_of(const std::string& json_file, const Kept& kept) {
  std::vector<std::string> names;
  std::error_code ignored;
  if (!fs::is_regular_file(json_file, ignored)) return names;
  const auto document = read_document(json_file);
  if (!document) return names;
  const Value* rows = document->find("rows");
  if (rows == nullptr || !rows->is(Value::Kind::kArray)) return names;
  for (const Value& row : rows->elements()) {
    const Value* name = row.find(kept.member);
    if (name == nullptr || !name->is(Value::Kind::kString)) continue;
    const std::string& text = name->as_string();
    // Ignores paths that lead elsewhere, whoever wrote them.
    const bool plain =
        text.starts_with(kept.begin) && text.ends_with(kept.end) && text.find('/') == text.npos;
    if (plain) names.push_back(text);
  }
  return names;
}

std::string stem(const std::string& file) { return fs::path(file).stem().string(); }

}  // namespace

ResultFiles::ResultFiles(const Results& results, std::string folder)
    : results_(results), folder_(std::move(folder)), last_(Clock::now()) {}

Result<void> ResultFiles::prepare() {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) return failure(fmt::format("{}: cannot be made: {}", folder_, error.message()));
  if (access(folder_.c_str(), W_OK | X_OK) != 0) {
    return failure(fmt::format("{}: cannot be written: {}", folder_, std::strerror(errno)));
  }
  lock_ = real::Descriptor(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // File systems without locks let everyone continue.
  if (lock_.valid() && ::flock(lock_.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return failure(fmt::format(
        "{}: another run writes its results there; wait for it, or choose another folder", folder_));
  }
  return {};
}

void ResultFiles::update(std::size_t point) {
  constexpr Clock::duration kOften = std::chrono::seconds(1);
  constexpr int kRest = 9;
  const Clock::duration since = Clock::now() - last_;
  if (since < kRest * last_took_ || (since < kOften && !results_.complete(point))) return;
  (void)write();  // a failure now may be temporary; finish() reports one that is not
}

Result<void> ResultFiles::finish() {
  for (const Run& run : results_.runs()) {
    if (run.outcome) continue;
    for (const Kept& kept : kKept) {
      const std::string& file = run.trial.*kept.file;
      if (file.empty()) continue;
      const std::string name = fs::path(file).filename().string();
      if (begun_) remove(name);
      remove(name + ".part");
    }
  }
  if (results_.ended() == written_) return {};
  return write();
}

Result<void> ResultFiles::write() {
  const Clock::time_point begin = Clock::now();
  if (!begun_) remove_old();
  begun_ = true;
  const std::size_t ended = results_.ended();
  Result<void> all;
  for (const auto& [name, text] : {std::pair(kTable, results_.csv()), {kJson, results_.json()}}) {
    const auto written = write_text(fmt::format("{}/{}", folder_, name), text);
    if (written) continue;
    all = all ? written : failure(fmt::format("{}\n{}", all.error().text, written.error().text));
  }
  if (all) written_ = ended;
  last_ = Clock::now();
  last_took_ = last_ - begin;
  return all;
}

Result<void> ResultFiles::write_published(const std::string& csv) const {
  return write_text(fmt::format("{}/{}", folder_, kPublished), csv);
}

void ResultFiles::remove_old() const {
  std::error_code ignored;
  bool any = false;
  for (const char* name : {kTable, kJson}) any = any || fs::exists(fs::path(folder_) / name, ignored);
  for (const Kept& kept : kKept) {
    std::vector<std::string> ours;  // files that these runs may have written already
    for (const Run& run : results_.runs()) ours.push_back(fs::path(run.trial.*kept.file).filename().string());
    for (const std::string& name : files_of(fmt::format("{}/{}", folder_, kJson), kept)) {
      if (std::find(ours.begin(), ours.end(), name) == ours.end()) remove(name);
      for (const char* ending : {".png", ".pdf"}) remove(stem(name) + ending);
    }
  }
  for (const char* name : {kTable, kJson}) {
    remove(name);
    remove(std::string(name) + ".part");
  }
  if (!any) return;
  remove(kPublished);
  for (const char* figure : kFigures) {
    for (const char* ending : {".png", ".pdf"}) remove(std::string(figure) + ending);
  }
}

void ResultFiles::remove(const std::string& name) const {
  std::error_code ignored;
  fs::remove(fs::path(folder_) / name, ignored);
}

}  // namespace weir
