#include <iterator>

#include "core/base/units_text.h"
#include "tests/core/protocol/job_world.h"

namespace weir {
namespace {

constexpr const char* kNames[] = {"crash", "restart", "stop",          "cut",        "break",
                                  "slow",  "late",    "other version", "other plan", "twin"};

JobFault fault_of(Random& random, const JobCase& what) {
  JobFault fault;
  fault.kind =
      static_cast<JobFault::Kind>(random.between(0, static_cast<std::int64_t>(std::size(kNames)) - 1));
  fault.place = static_cast<int>(random.between(0, what.machines - 1));
  const auto ms = [&](std::int64_t low, std::int64_t high) {
    return Duration(random.between(low * 1'000'000, high * 1'000'000));
  };
  const Duration whole = Duration(1'500'000'000) + (what.planning + what.running) * 2;
  fault.when = Instant() + Duration(random.between(0, whole.ns()));
  // The coordinator may crash, stop or start late; it has no other faults.
  using Kind = JobFault::Kind;
  if ((fault.kind <= Kind::kStop || fault.kind == Kind::kLate) && random.between(0, 2) == 0) fault.place = -1;
  if (fault.kind == Kind::kRestart) fault.time = ms(50, 4000);
  if (fault.kind == Kind::kStop) fault.time = random.between(0, 1) == 0 ? ms(50, 2500) : ms(2500, 9000);
  if (fault.kind == Kind::kCut) fault.time = random.between(0, 1) == 0 ? ms(1, 500) : ms(500, 6000);
  if (fault.kind == Kind::kSlow || fault.kind == Kind::kLate)
    fault.time = random.between(0, 2) == 0 ? ms(3000, 9000) : ms(10, 1500);
  return fault;
}

}  // namespace

JobCase job_case(std::uint64_t seed) {
  Random random = Random(seed).split(1);
  JobCase what;
  const auto ms = [&](std::int64_t low, std::int64_t high) {
    return Duration(random.between(low * 1'000'000, high * 1'000'000));
  };
  what.machines = static_cast<int>(random.between(1, 5));
  what.ahead = random.between(0, 2) == 0;
  what.watched = random.between(0, 3) == 0;
  what.patience = Duration(100'000'000) * random.between(15, 70);
  what.planning = ms(10, 500);
  what.connecting = ms(1, 400);
  what.running = random.between(0, 3) == 0 ? ms(2000, 6000) : ms(1, 2000);
  what.slowest = random.between(0, 1) == 0 ? ms(1, 20) : ms(20, 200);
  const std::int64_t kinds = random.between(0, 9);
  const std::int64_t faults = kinds < 2 ? 0 : kinds < 6 ? 1 : kinds < 9 ? 2 : 3;
  for (std::int64_t i = 0; i < faults; ++i) what.faults.push_back(fault_of(random, what));
  return what;
}

std::string text(const JobCase& what) {
  std::string all =
      fmt::format("{} machines{}{}, patience {}, planning {}, connecting {}, running {}, notes take up to {}",
                  what.machines, what.ahead ? ", one iteration ahead" : "", what.watched ? ", watched" : "",
                  rounded(what.patience), rounded(what.planning), rounded(what.connecting),
                  rounded(what.running), rounded(what.slowest));
  for (const JobFault& fault : what.faults) {
    all += fmt::format("; {} of {} at {}", kNames[static_cast<std::size_t>(fault.kind)],
                       fault.place < 0 ? "the coordinator" : fmt::format("gpu[{}]", fault.place),
                       rounded(fault.when - Instant()));
    if (fault.time > Duration(0)) all += " for " + rounded(fault.time);
  }
  return all;
}

}  // namespace weir
