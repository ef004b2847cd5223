#include "studies/doctor/host_checks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/real/compute/gpu/gpu_facts.h"
#include "backends/real/discovery/checks.h"
#include "backends/real/discovery/host_reader.h"
#include "backends/real/discovery/machine_tree.h"
#include "backends/real/lab/readiness.h"
#include "backends/real/process/child.h"
#include "backends/real/process/descriptor.h"
#include "core/base/units_text.h"
#include "core/base/version.h"
#include "core/document/document.h"

namespace weir {
namespace {

using real::Grade;
using Json = nlohmann::ordered_json;

constexpr int kDone = 0;  // exit status of a check's process
constexpr int kFailed = 1;
constexpr std::chrono::seconds kCheckPatience(10);  // for each check

/// One kind of findings. Each check runs in a process of its own, so that a driver that hangs or ends the
/// process does not delay the others.
struct Check {
  const char* subject;
  std::function<real::Findings()> run;
};

real::Findings check_build() {
#ifdef WEIR_SIMGRID
  constexpr bool kSimulates = true;
#else
  constexpr bool kSimulates = false;
#endif
  const auto cuda = real::cuda_versions();
  real::Finding finding{"build", kSimulates && cuda ? Grade::kOk : Grade::kNote, "", ""};
  finding.found = fmt::format("weir {}, {} SimGrid, {} CUDA", version(), kSimulates ? "with" : "without",
                              cuda ? "with" : "without");
  if (!kSimulates)
    finding.remedy =
        "to simulate with SimGrid, the reference, install it (scripts/install-dependencies) and build again";
  if (!cuda)
    finding.remedy += fmt::format("{}to use GPUs, build on a host that has nvcc and nccl.h",
                                  finding.remedy.empty() ? "" : "; ");
  return {finding};
}

real::Findings check_lab() {
  const real::LabReadiness lab = real::try_lab();
  real::Findings findings;
  if (lab.lab) {
    findings.push_back({"lab", Grade::kOk,
                        fmt::format("a lab of two machines was set up and removed in {}", rounded(lab.took)),
                        ""});
  } else {
    findings.push_back({"lab", Grade::kWarning, lab.lab.error().text,
                        "clusters cannot be emulated on this host; docs/lab.md lists what a lab needs"});
  }
  if (lab.shares) {
    findings.push_back({"lab's CPUs", Grade::kOk,
                        "control groups divide them among machines by their numbers of cores", ""});
  } else {
    findings.push_back({"lab's CPUs", Grade::kNote,
                        "not divided among machines by their numbers of cores: " + lab.shares.error().text,
                        "let this user write its control group, or run labs as root"});
  }
  return findings;
}

/// Reads what this host has.
using Reader = Result<real::HostParts> (*)();
Check on_parts(const char* subject, Reader read,
               std::function<real::Findings(const real::HostParts&)> judge) {
  return {subject, [subject, read, judge = std::move(judge)]() -> real::Findings {
            const auto parts = read();
            if (!parts)
              return {{subject, Grade::kWrong, parts.error().text, "report it with lstopo's output"}};
            return judge(*parts);
          }};
}

std::vector<Check> checks() {
  // Only checks that concern GPUs ask their driver.
  const Reader without_gpus = [] { return real::read_machine(); };
  return {{"build", check_build},
          on_parts("host", without_gpus,
                   [](const auto& parts) { return real::check_host(parts, real::read_limits()); }),
          on_parts("nics", without_gpus, [](const auto& parts) { return real::check_nics(parts); }),
          {"rdma", [] { return real::check_rdma(real::rdma::survey(), real::read_limits()); }},
          {"lab", check_lab},
          on_parts("gpus", real::read_host,
                   [](const auto& parts) { return real::check_gpus(parts, real::read_limits()); }),
          on_parts("cuda", real::read_host, [](const auto& parts) {
            return parts.gpus.empty() && parts.gpu_devices.empty()
                       ? real::Findings()
                       : real::check_cuda(parts, real::try_gpus());
          })};
}

std::string packed(const real::Findings& findings) {
  Json list = Json::array();
  for (const real::Finding& one : findings)
    list.push_back({one.subject, static_cast<int>(one.grade), one.found, one.remedy});
  return json_text(list);  // a driver's text may not be UTF-8
}

real::Findings unpacked(const std::string& text) {
  real::Findings findings;
  for (const Json& one : Json::parse(text))
    findings.push_back({one[0].get<std::string>(), static_cast<Grade>(one[1].get<int>()),
                        one[2].get<std::string>(), one[3].get<std::string>()});
  return findings;
}

/// Everything that arrives until the writer ends; none if it has not ended by the deadline.
std::optional<std::string> read_all(int file, std::chrono::steady_clock::time_point deadline) {
  std::string text;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return std::nullopt;
    pollfd waiting = {file, POLLIN, 0};
    if (poll(&waiting, 1, static_cast<int>(left.count())) <= 0) continue;
    char some[4096];
    const ssize_t size = read(file, some, sizeof some);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return text;
    text.append(some, static_cast<std::size_t>(size));
  }
}

// In the child: never returns; an exception ends the child.
[[noreturn]] void answer(const Check& check, int file) noexcept {
  const std::string text = packed(check.run());
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = write(file, text.data() + written, text.size() - written);
    if (count <= 0) _exit(kFailed);
    written += static_cast<std::size_t>(count);
  }
  _exit(kDone);
}

real::Findings run(const Check& check) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return {{check.subject, Grade::kWrong, fmt::format("cannot make a pipe: {}", std::strerror(errno)),
             "ulimit -n"}};
  const real::Descriptor here(ends[0]);
  real::Descriptor there(ends[1]);
  std::fflush(nullptr);
  const pid_t process = real::fork_child();
  if (process < 0)
    return {{check.subject, Grade::kWrong, fmt::format("cannot start a process: {}", std::strerror(errno)),
             "ulimit -u"}};
  if (process == 0) answer(check, there.number());
  there = real::Descriptor();
  const auto text = read_all(here.number(), std::chrono::steady_clock::now() + kCheckPatience);
  if (!text) kill(process, SIGKILL);
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  if (!text)
    return {{check.subject, Grade::kWrong, fmt::format("no answer within {} s", kCheckPatience.count()),
             "see dmesg; GPUs that wake slowly need nvidia-persistenced"}};
  if (WIFEXITED(status) && WEXITSTATUS(status) == kDone) return unpacked(*text);
  return {{check.subject, Grade::kWrong,
           WIFSIGNALED(status) ? fmt::format("the check was ended by signal {}", WTERMSIG(status))
                               : std::string("the check ended without an answer"),
           "report it with the output of dmesg"}};
}

}  // namespace

real::Findings check_this_host(const std::function<void(const real::Finding& finding)>& found) {
  real::Findings all;
  for (const Check& check : checks()) {
    for (real::Finding& finding : run(check)) {
      if (found) found(finding);
      all.push_back(std::move(finding));
    }
  }
  return all;
}

}  // namespace weir
