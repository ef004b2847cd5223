// Conversations as text, so that a reader sees who says what and when. WEIR_REWRITE=1 rewrites the file.
#include <fstream>
#include <sstream>

#include "tests/catch.h"
#include "tests/core/protocol/job_world.h"
#include "tests/core/protocol/session_sim.h"

namespace weir {
namespace {

constexpr const char* kFile = WEIR_SOURCE_DIR "/tests/core/protocol/conversations.txt";

JobCase three_machines() {
  JobCase what;
  what.slowest = Duration(2'000'000);
  what.running = Duration(4'000'000'000);
  return what;
}

// All lines except those about clocks, which each round repeats eight times.
std::string without_clocks(const std::string& title, const std::vector<std::string>& lines) {
  std::string all = "# " + title + "\n";
  for (const std::string& line : lines) {
    if (line.find("clock") == std::string::npos) all += line + "\n";
  }
  return all + "\n";
}

template <class Outcome>
std::string ends(const std::vector<Outcome>& outcomes) {
  std::string all;
  for (const Outcome& outcome : outcomes) {
    all += fmt::format("{:6.3f} s  {} {}\n", (outcome.at - Instant()).seconds(), outcome.name,
                       outcome.crashed ? "has crashed"
                       : outcome.error ? "ends: " + outcome.error->text
                                       : "ends well");
  }
  return all + "\n";
}

std::string conversation(const std::string& title, const JobCase& what) {
  JobWorld world(what, 3);
  world.listen();
  const std::string wrong = world.run();
  CHECK(wrong.empty());
  return without_clocks(title, world.lines()) + ends(world.outcomes());
}

std::string conversation(const std::string& title, const SessionCase& what) {
  SimulatedSession session(what, 3);
  session.listen();
  const std::string wrong = session.run();
  CHECK(wrong.empty());
  return without_clocks(title, session.lines()) + ends(session.outcomes());
}

std::string all_conversations() {
  std::string all = conversation("A job of three machines (rounds of clocks are left out)", three_machines());
  JobCase loses = three_machines();
  loses.faults.push_back({JobFault::Kind::kCrash, 1, Instant(3'000'000'000), {}});
  all += conversation("One machine crashes while the job runs", loses);
  JobCase leaderless = three_machines();
  leaderless.faults.push_back({JobFault::Kind::kCrash, -1, Instant(3'000'000'000), {}});
  all += conversation("The coordinator crashes while the job runs", leaderless);
  SessionCase session;
  session.ranks = 2;
  session.tensors = 1;
  session.rounds = 1;
  session.slowest = Duration(2'000'000);
  all += conversation("A session of two ranks and a server, from the first seat to goodbye", session);
  session.faults.push_back({SessionFault::Kind::kLeave, 1, Instant(), {}});
  all += conversation("A rank leaves early, and another one waits for it", session);
  return all;
}

TEST_CASE("conversations of jobs and sessions equal the committed text", "[golden]") {
  const std::string now = all_conversations();
  if (std::getenv("WEIR_REWRITE") != nullptr) std::ofstream(kFile) << now;  // NOLINT: before any thread
  std::stringstream then;
  then << std::ifstream(kFile).rdbuf();
  CHECK(now == then.str());
}

}  // namespace
}  // namespace weir
