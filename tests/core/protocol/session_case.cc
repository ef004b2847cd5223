#include <iterator>

#include "core/base/units_text.h"
#include "tests/core/protocol/session_sim.h"

namespace weir {
namespace {

constexpr const char* kNames[] = {"crash", "restart",       "stop",       "cut",    "break", "slow",
                                  "late",  "other version", "other plan", "twin",   "idle",  "leave",
                                  "abort", "differs",       "swaps",      "refuses"};

SessionFault fault_of(Random& random, const SessionCase& what) {
  using Kind = SessionFault::Kind;
  SessionFault fault;
  fault.kind = static_cast<Kind>(random.between(0, static_cast<std::int64_t>(std::size(kNames)) - 1));
  const bool of_rank = fault.kind >= Kind::kIdle;
  fault.place = static_cast<int>(random.between(0, (of_rank ? what.ranks : what.ranks + what.servers) - 1));
  const auto ms = [&](std::int64_t low, std::int64_t high) {
    return Duration(random.between(low * 1'000'000, high * 1'000'000));
  };
  fault.when = Instant() + Duration(random.between(0, 5'000'000'000));
  if (fault.kind == Kind::kRestart) fault.time = ms(50, 4000);
  if (fault.kind == Kind::kStop) fault.time = random.between(0, 1) == 0 ? ms(50, 2500) : ms(2500, 9000);
  if (fault.kind == Kind::kCut) fault.time = random.between(0, 1) == 0 ? ms(1, 500) : ms(500, 6000);
  if (fault.kind == Kind::kSlow || fault.kind == Kind::kLate)
    fault.time = random.between(0, 2) == 0 ? ms(3000, 9000) : ms(10, 1500);
  return fault;
}

}  // namespace

SessionCase session_case(std::uint64_t seed) {
  Random random = Random(seed).split(3);
  SessionCase what;
  const auto ms = [&](std::int64_t low, std::int64_t high) {
    return Duration(random.between(low * 1'000'000, high * 1'000'000));
  };
  what.ranks = static_cast<int>(random.between(1, 4));
  what.servers = static_cast<int>(random.between(what.ranks == 1 ? 1 : 0, 2));
  what.tensors = static_cast<int>(random.between(1, 3));
  what.rounds = static_cast<int>(random.between(1, 4));
  what.kept = random.between(0, 3) == 0;
  what.some = random.between(0, 2) == 0;
  what.patience = Duration(100'000'000) * random.between(30, 70);
  what.opening = ms(1, 300);
  what.computing = ms(1, 500);
  what.slowest = random.between(0, 1) == 0 ? ms(1, 20) : ms(20, 200);
  const std::int64_t kinds = random.between(0, 9);
  const std::int64_t faults = kinds < 2 ? 0 : kinds < 6 ? 1 : kinds < 9 ? 2 : 3;
  for (std::int64_t i = 0; i < faults; ++i) what.faults.push_back(fault_of(random, what));
  return what;
}

std::string text(const SessionCase& what) {
  std::string all = fmt::format(
      "{} ranks, {} servers, {} tensors{}{}, {} rounds, patience {}, opening {}, computing {}, notes take up "
      "to {}",
      what.ranks, what.servers, what.tensors, what.kept ? ", the last kept" : "",
      what.some ? ", the first of two ranks" : "", what.rounds, rounded(what.patience), rounded(what.opening),
      rounded(what.computing), rounded(what.slowest));
  for (const SessionFault& fault : what.faults) {
    const bool server = fault.place >= what.ranks;
    all += fmt::format("; {} of {} {} at {}", kNames[static_cast<std::size_t>(fault.kind)],
                       server ? "server" : "rank", server ? fault.place - what.ranks : fault.place,
                       rounded(fault.when - Instant()));
    if (fault.time > Duration(0)) all += " for " + rounded(fault.time);
  }
  return all;
}

}  // namespace weir
