#include "studies/sweep/active_workers.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <ctime>
#include <filesystem>

#include "tests/catch.h"
#include "tests/core/experiment/folder.h"

namespace weir {
namespace {

// Leaves the file of a worker on another host, last written this many seconds ago.
void leave(const Folder& folder, const std::string& share, std::time_t seconds_ago) {
  folder.write("at-work-other.json",
               R"({"host": "other", "boot": "b", "numbers": "n", "process": 1, "started": 2, "jobs": 1,
    "design": "d", )" +
                   share + "}");
  const std::string file = folder.path() + "/at-work-other.json";
  const timespec when{std::time(nullptr) - seconds_ago, 0};
  const timespec times[] = {when, when};
  REQUIRE(::utimensat(AT_FDCWD, file.c_str(), times, 0) == 0);
}

bool enters(const Folder& folder, const Share& share, const std::string& design = "d") {
  return ActiveWorker::enter(folder.path(), this_worker(share, 1, design)).has_value();
}

TEST_CASE("only workers with other shares of the same design may run at once") {
  const Folder folder;
  leave(folder, R"("share_index": 1, "share_count": 3)", 5);
  CHECK(workers_in(folder.path()).size() == 1);
  CHECK(enters(folder, {0, 3}));
  CHECK_FALSE(enters(folder, {1, 3}));
  CHECK_FALSE(enters(folder, {0, 2}));
  CHECK_FALSE(enters(folder, {}));
  CHECK_FALSE(enters(folder, {0, 3}, "another"));
  CHECK(workers_in(folder.path()).size() == 1);  // the refused workers have left no file
  const auto refused = ActiveWorker::enter(folder.path(), this_worker({}, 1, "d"));
  // The number of seconds grows while the test runs.
  CHECK(refused.error().text.find("process 1 on other, which takes share 2 of 3; it last reported ") !=
        std::string::npos);
  CHECK(refused.error().text.find(" s ago; if it has died, try again ") != std::string::npos);
  CHECK(refused.error().text.find(" s after its last report") != std::string::npos);
}

TEST_CASE("a worker on another host that is silent for a minute counts as gone") {
  const Folder folder;
  leave(folder, R"("share_index": 0, "share_count": 1)", 61);
  CHECK(enters(folder, {}));
}

TEST_CASE("a worker that was killed on this host counts as gone at once, and its file is removed") {
  const Folder folder;
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto active = ActiveWorker::enter(folder.path(), this_worker({}, 1, "d"));
    (void)!::write(ready[1], active ? "+" : "-", 1);
    ::pause();
    ::_exit(0);
  }
  char said = 0;
  REQUIRE(::read(ready[0], &said, 1) == 1);
  CHECK(said == '+');
  CHECK_FALSE(enters(folder, {}));
  ::kill(child, SIGKILL);
  // The child keeps its process number until its parent asks how it ended.
  siginfo_t about{};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(child), &about, WEXITED | WNOWAIT) == 0);
  CHECK(enters(folder, {}));
  REQUIRE(::waitpid(child, nullptr, 0) == child);
  CHECK(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace weir
