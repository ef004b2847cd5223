#include "studies/sweep/active_workers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/document/read_fields.h"
#include "core/document/write_fields.h"
#include "studies/output/files.h"

namespace weir {

template <class Visitor>
void fields(Visitor& visitor, Worker& worker) {
  visitor.required("host", worker.host, "its name");
  visitor.required("boot", worker.boot, "when the host was started");
  visitor.required("numbers", worker.numbers, "the namespace of process numbers");
  visitor.required("process", worker.process, "its number");
  visitor.required("started", worker.started, "when it was, in ticks");
  visitor.required("share_index", worker.share_index, "what it takes");
  visitor.required("share_count", worker.share_count, "of how many");
  visitor.required("jobs", worker.jobs, "runs at once");
  visitor.required("design", worker.design, "a hash of what it runs");
}

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFilePrefix = "at-work-";
constexpr std::int64_t kBeat = 10;    // s
constexpr std::int64_t kSilent = 60;  // s, after which a process of another host counts as gone

// When the process started, in ticks since its host did. None if it does not exist, or is dead and only waits
// for its parent to notice.
std::optional<std::int64_t> start_of(std::int64_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream rest(line.substr(name_end + 1));
  std::string field;
  constexpr int kStart = 22;
  for (int number = 3; number <= kStart && rest >> field; ++number)
    if (number == 3 && (field == "Z" || field == "X")) return std::nullopt;
  return std::strtoll(field.c_str(), nullptr, 10);
}

std::int64_t changed_s(const std::string& file) {
  struct stat about {};
  const int opened = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);  // opening makes NFS refresh the file's time
  if (opened < 0) return 0;
  const bool known = ::fstat(opened, &about) == 0;
  ::close(opened);
  return known ? about.st_mtim.tv_sec : 0;
}

// The current time by the file system's server, from a file just written; if that fails, by this host's
// clock.
std::int64_t now_s(const std::string& own_file) {
  const std::int64_t written = own_file.empty() ? 0 : changed_s(own_file);
  return written > 0 ? written : std::time(nullptr);
}

// Whether this process can see the other one, if that exists.
bool near(const Worker& worker, const Worker& self) {
  return worker.boot == self.boot && worker.numbers == self.numbers;
}

bool alive(const Worker& worker, const Worker& self, std::int64_t silent_s) {
  return near(worker, self) ? start_of(worker.process) == worker.started : silent_s < kSilent;
}

struct Seen {
  Worker worker;
  std::int64_t silent_s;
};

std::vector<Seen> others_in(const std::string& folder, const Worker& self, const std::string& own_file) {
  std::vector<Seen> found;
  std::error_code error;
  const std::int64_t now = now_s(own_file);
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kFilePrefix) || !name.ends_with(".json") || entry.path() == own_file) continue;
    const auto document = read_document(entry.path().string());
    const auto worker = document ? read_fields<Worker>(*document) : tl::unexpected(document.error());
    if (!worker) continue;  // it has gone in the meantime
    const std::int64_t silent = now - changed_s(entry.path().string());
    if (alive(*worker, self, silent)) {
      found.push_back({*worker, silent});
    } else if (near(*worker, self)) {
      fs::remove(entry.path(), error);  // its process was killed
    }
  }
  return found;
}

}  // namespace

Worker this_worker(const Share& share, int jobs, const std::string& design) {
  Worker self;
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) == 0) self.host = name.data();
  std::ifstream("/proc/sys/kernel/random/boot_id") >> self.boot;
  std::error_code ignored;
  self.numbers = fs::read_symlink("/proc/self/ns/pid", ignored).string();
  self.process = ::getpid();
  self.started = start_of(self.process).value_or(0);
  self.share_index = share.index;
  self.share_count = share.count;
  self.jobs = jobs;
  self.design = design;
  return self;
}

std::vector<Worker> workers_in(const std::string& folder) {
  std::vector<Worker> workers;
  for (const Seen& seen : others_in(folder, this_worker({}, 1, ""), "")) workers.push_back(seen.worker);
  return workers;
}

Result<std::unique_ptr<ActiveWorker>> ActiveWorker::enter(const std::string& folder, const Worker& self) {
  const std::string file = fmt::format("{}/{}{}-of-{}-{}-{}.json", folder, kFilePrefix, self.share_index + 1,
                                       self.share_count, self.host, self.process);
  if (const auto written = write_text(file, write_fields(self).dump()); !written)
    return tl::unexpected(written.error());
  std::unique_ptr<ActiveWorker> active(new ActiveWorker(file));
  active->last_beat_s_ = std::time(nullptr);
  for (const Seen& seen : others_in(folder, self, file)) {
    const Worker& other = seen.worker;
    const bool beside = other.share_count == self.share_count && other.share_index != self.share_index &&
                        other.design == self.design;
    if (beside) continue;
    const std::string remedy =
        other.host == self.host
            ? "wait for it, or end it"
            : fmt::format("it last reported {} s ago; if it has died, try again {} s after its last report",
                          seen.silent_s, kSilent);
    return failure(
        fmt::format("{}: another sweep is at work there: process {} on {}, which takes share {}{}; {}",
                    folder, other.process, other.host, text(Share{other.share_index, other.share_count}),
                    other.design == self.design ? "" : " of another design", remedy));
  }
  return active;
}

ActiveWorker::~ActiveWorker() { ::unlink(file_.c_str()); }

void ActiveWorker::beat() {
  const std::int64_t now = std::time(nullptr);
  if (now - last_beat_s_ < kBeat) return;
  last_beat_s_ = now;
  (void)::utimensat(AT_FDCWD, file_.c_str(), nullptr, 0);
}

}  // namespace weir
