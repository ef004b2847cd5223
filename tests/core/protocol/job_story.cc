#include "tests/core/protocol/job_story.h"

#include <algorithm>

#include "core/base/units_text.h"
#include "tests/core/protocol/phase_clock.h"

namespace weir {
namespace {

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// The text after the last ": ", up to a semicolon.
std::string last_part(const std::string& text) {
  std::string part = text.substr(text.rfind(": ") + 2);
  return part.substr(0, part.find(';'));
}

}  // namespace

JobStory::JobStory(const JobWorld& world) : world_(world), coordinator_(first_of(-1)) {}

std::string JobStory::wrong() const {
  for (const JobOutcome& outcome : world_.outcomes_) {
    if (const std::string why = wrong_with(outcome); !why.empty())
      return fmt::format("{} (process {} of it) {}", outcome.name, outcome.start, why);
  }
  if (const std::string why = unnoticed(); !why.empty()) return why;
  if (const std::string why = left_behind(); !why.empty()) return why;
  return late();
}

const JobOutcome* JobStory::first_of(int place) const {
  const auto found =
      std::find_if(world_.outcomes_.begin(), world_.outcomes_.end(),
                   [&](const JobOutcome& one) { return one.place == place && one.start == 0; });
  return found == world_.outcomes_.end() ? nullptr : &*found;
}

bool JobStory::has(int place, std::initializer_list<Kind> kinds, Instant by) const {
  return std::any_of(world_.case_.faults.begin(), world_.case_.faults.end(), [&](const JobFault& fault) {
    const bool begun = fault.when <= by || fault.kind == Kind::kLate || fault.kind == Kind::kSlow ||
                       fault.kind == Kind::kOtherVersion || fault.kind == Kind::kOtherPlan;
    return fault.place == place && begun && std::find(kinds.begin(), kinds.end(), fault.kind) != kinds.end();
  });
}

int JobStory::place(const std::string& name) const {
  for (int i = 0; i < world_.case_.machines; ++i) {
    if (world_.name(i) == name) return i;
  }
  return -2;
}

bool JobStory::culprit(const std::string& name, Instant by) const {
  return has(place(name), {Kind::kCrash, Kind::kRestart, Kind::kBreak, Kind::kCut, Kind::kStop}, by);
}

bool JobStory::apart(const JobOutcome& outcome) const {
  return has(-1, {Kind::kCrash, Kind::kRestart, Kind::kStop}, outcome.at) ||
         has(outcome.place, {Kind::kCut}, outcome.at);
}

bool JobStory::troubled(const std::string& names, bool all, Instant by) const {
  std::size_t listed = 0;
  std::size_t in_trouble = 0;
  for (std::size_t at = 0; at < names.size(); ++listed) {
    const std::size_t end = std::min(names.find(", ", at), names.size());
    const std::string name = names.substr(at, end - at);
    const int one = place(name);
    const bool gone = std::any_of(
        world_.outcomes_.begin(), world_.outcomes_.end(),
        [&](const JobOutcome& other) { return other.name == name && other.ended && other.at < by; });
    if (gone || has(one,
                    {Kind::kCrash, Kind::kRestart, Kind::kCut, Kind::kStop, Kind::kSlow, Kind::kLate,
                     Kind::kOtherVersion, Kind::kTwin},
                    by))
      ++in_trouble;
    at = end + 2;
  }
  return listed > 0 && (all ? in_trouble == listed : in_trouble > 0);
}

std::string JobStory::wrong_with(const JobOutcome& outcome) const {
  if (outcome.crashed) return outcome.error ? wrong_verdict(outcome.error->text, outcome.at) : "";
  if (!outcome.ended) return "hangs";
  const JobCase& what = world_.case_;
  const Duration phases = what.patience * 26 + what.running * 2 + what.planning;
  Duration faults;
  for (const JobFault& fault : what.faults) faults += fault.time;
  if (outcome.at > Instant() + phases + faults) return "ended late, at " + text(outcome.at - Instant());
  if (what.faults.empty() && outcome.error)
    return "fails although nothing went wrong: " + outcome.error->text;
  if (outcome.place >= 0) return wrong_machine(outcome);
  if (outcome.start > 0) {  // nobody can have joined it, because its key differs
    const bool alone = outcome.error && holds(outcome.error->text, "have not joined: gpu[0]");
    return alone ? "" : "has heard machines of the job before";
  }
  return outcome.error ? wrong_verdict(outcome.error->text, outcome.at) : wrong_success();
}

std::string JobStory::wrong_success() const {
  const JobTally& tally = world_.tally();
  const int machines = world_.case_.machines;
  if (tally.checked != machines * (world_.case_.ahead ? 2 : 1))
    return fmt::format("takes {} elements for checked", tally.checked);
  if (world_.recorded() != machines * 24) return "has another record";
  for (int place = 0; place < machines; ++place) {
    const bool finished =
        std::any_of(world_.processes_.begin(), world_.processes_.end(), [&](const JobWorld::Process& one) {
          return one.place == place && one.work == JobWorld::Work::kFinished;
        });
    if (!finished) return fmt::format("succeeds without {}", world_.name(place));
  }
  for (const JobWorld::Process& one : world_.processes_) {
    if (!world_.outcomes_[world_.outcome_of_.at(one.pid)].seated) continue;
    if (one.failed) return fmt::format("succeeds although {} has failed", world_.name(one.place));
    if (one.start > 0) continue;
    if (world_.fault(Kind::kOtherVersion, one.place) != nullptr)
      return fmt::format("succeeds although {} has another version", world_.name(one.place));
    if (world_.fault(Kind::kOtherPlan, one.place) != nullptr)
      return fmt::format("succeeds although {} has another plan", world_.name(one.place));
    const JobFault* const broken = world_.fault(Kind::kBreak, one.place);
    if (broken != nullptr && broken->when < one.worked_until)
      return fmt::format("succeeds although {} was broken", world_.name(one.place));
  }
  return {};
}

// The machines listed must be those that had no place when the coordinator stopped waiting for them.
std::string JobStory::wrong_absence(const std::string& names) const {
  for (int place = 0; place < world_.case_.machines; ++place) {
    const bool seated =
        std::any_of(world_.outcomes_.begin(), world_.outcomes_.end(),
                    [&](const JobOutcome& one) { return one.place == place && one.seated.has_value(); });
    if (seated == holds(names, world_.name(place)))
      return fmt::format("is wrong about {}: these have not joined: {}", world_.name(place), names);
  }
  return {};
}

// Checks the reason that a machine itself gives for its failure.
std::string JobStory::wrong_reason(const std::string& text, Instant at) const {
  const bool any = !world_.case_.faults.empty();
  if (ends_with(text, " is broken")) {
    const int one = place(text.substr(0, text.rfind(" is ")));
    return has(one, {Kind::kBreak}, at) ? "" : "blames one that is not broken: " + text;
  }
  if (holds(text, " has lost "))
    return culprit(text.substr(text.rfind(' ') + 1), at) ? "" : "blames one that has done nothing: " + text;
  if (holds(text, " waits for its peers in vain")) return any ? "" : "has waited for nobody: " + text;
  // Whoever leads reports first who is missing, unless it cannot.
  if (holds(text, "the coordinator has not sent '"))
    return has(-1, {Kind::kStop, Kind::kLate}, at) ? ""
                                                   : "names nobody, although the coordinator can: " + text;
  return "reports an unexpected reason: " + text;
}

std::string JobStory::wrong_verdict(const std::string& whole, Instant at) const {
  const std::string text = whole.substr(0, whole.find("; the coordinator itself stood still"));
  const bool stood_still = text != whole;
  if (stood_still && !has(-1, {Kind::kStop}, at)) return "has not stood still: " + whole;
  const std::string name =
      text.substr(0, text.find_first_of(": ") == std::string::npos ? 0 : text.find(']') + 1);
  const auto check = [&](bool right) { return right ? std::string() : "has a wrong story: " + text; };
  if (ends_with(text, " has said nothing for 3s")) {
    const bool silent =
        has(place(name), {Kind::kCrash, Kind::kRestart, Kind::kCut, Kind::kStop}, at) ||
        std::any_of(world_.outcomes_.begin(), world_.outcomes_.end(), [&](const JobOutcome& one) {
          return one.name == name && one.start == 0 && one.ended && one.at + Duration(2'000'000'000) < at;
        });
    return check(silent);
  }
  if (holds(text, "these machines have not joined: "))  // nor could they while the coordinator was away
    return check(wrong_absence(last_part(text)).empty() &&
                 (troubled(last_part(text), true, at) || has(-1, {Kind::kLate, Kind::kStop}, at)));
  if (holds(text, "have not sent 'planned': ") || holds(text, "have not sent 'clock': "))
    return check(troubled(last_part(text), true, at));
  if (holds(text, "have not sent 'met': ")) return check(troubled(last_part(text), false, at));
  if (holds(text, " runs version 2")) return check(has(place(name), {Kind::kOtherVersion}, at));
  if (holds(text, "it made a different plan")) return check(has(place(name), {Kind::kOtherPlan}, at));
  if (ends_with(text, " has crashed")) return check(has(place(name), {Kind::kCrash, Kind::kRestart}, at));
  if (stood_still && holds(text, " has lost ")) return {};  // because the peer had indeed gone
  const std::string prefix = name + ": ";
  const std::string reason = text.rfind(prefix, 0) == 0 ? text.substr(prefix.size()) : text;
  return wrong_reason(reason, at);
}

std::string JobStory::wrong_machine(const JobOutcome& outcome) const {
  const bool known = coordinator_ != nullptr;
  if (!outcome.error) {
    return known && !coordinator_->crashed && !coordinator_->error ? "" : "succeeds and the job does not";
  }
  const std::string& text = outcome.error->text;
  if (known && coordinator_->error &&
      (text == coordinator_->error->text || text == "the job has failed: " + coordinator_->error->text))
    return {};
  const bool other = outcome.start > 0 || has(outcome.place, {Kind::kTwin, Kind::kRestart}, outcome.at);
  const auto check = [&](bool right) { return right ? std::string() : "has a wrong story: " + text; };
  if (text == "the coordinator has said nothing for 3s") return check(apart(outcome));
  if (holds(text, "nobody has listened"))
    return check(has(-1, {Kind::kCrash, Kind::kRestart, Kind::kLate, Kind::kStop}, outcome.at) ||
                 (known && coordinator_->at < outcome.at));
  if (text == "the job has begun without it" || ends_with(text, " has joined already"))
    return check(other || has(outcome.place, {Kind::kCut, Kind::kLate}, outcome.at));
  if (holds(text, "the coordinator has not sent 'inputs'"))
    return check(other || has(outcome.place, {Kind::kCut}, outcome.at) ||
                 (known && !outcome.seated && coordinator_->at < outcome.at) ||
                 has(-1, {Kind::kCrash, Kind::kRestart, Kind::kStop, Kind::kLate}, outcome.at));
  if (holds(text, " is broken")) return wrong_reason(text, outcome.at);
  if (holds(text, outcome.name + " runs version 2"))
    return check(has(outcome.place, {Kind::kOtherVersion}, outcome.at));
  // Its own guess counts only if nobody could send it the cause.
  if (!apart(outcome)) return "does not know the cause: " + text;
  return wrong_reason(text, outcome.at);
}

// If a machine with a place is gone for longer than the silence allowed, the job is over soon.
std::string JobStory::unnoticed() const {
  if (coordinator_ == nullptr) return {};
  constexpr Duration kBlame{300'000'000};
  const Stops stops = world_.stops(-1, 0);
  for (const JobFault& fault : world_.case_.faults) {
    const JobOutcome* const gone = first_of(fault.place);
    const bool matters = fault.place >= 0 && (fault.kind <= Kind::kStop || fault.kind == Kind::kCut) &&
                         gone != nullptr && gone->seated && *gone->seated <= fault.when &&
                         gone->at >= fault.when;
    if (!matters) continue;
    const Instant noticed = latest(fault.when + world_.case_.slowest + kSilence, stops, kSilence);
    if (fault.kind == Kind::kStop && fault.when + fault.time <= noticed) continue;
    if (coordinator_->at > latest(noticed + kBlame + kMoment + kLateLook * 2, stops))
      return fmt::format("the coordinator ends {} after {} has fallen silent",
                         rounded(coordinator_->at - fault.when), gone->name);
  }
  return {};
}

// Once the coordinator has gone, no machine stays for long.
std::string JobStory::left_behind() const {
  if (coordinator_ == nullptr) return {};
  for (const JobWorld::Process& one : world_.processes_) {
    const JobOutcome& outcome = world_.outcomes_[world_.outcome_of_.at(one.pid)];
    const bool planned = one.listens_from > Instant();
    const Duration most = planned ? kSilence + kMoment : world_.case_.patience + kAfterLeader;
    const Instant last = std::max({coordinator_->at + world_.case_.slowest, one.listens_from, outcome.began});
    if (outcome.at > latest(last + most, world_.stops(one.place, one.start), kSilence))
      return fmt::format("{} ends {} after the coordinator", outcome.name,
                         rounded(outcome.at - coordinator_->at));
  }
  return {};
}

// If processes crash, and nothing else happens, all others end within five seconds.
std::string JobStory::late() const {
  constexpr Duration kSoon{5'000'000'000};
  Instant last;
  for (const JobFault& fault : world_.case_.faults) {
    if (fault.kind != Kind::kCrash) return {};
    last = std::max(last, fault.when);
  }
  if (world_.case_.faults.empty() || coordinator_ == nullptr) return {};
  const bool crashed = std::any_of(world_.outcomes_.begin(), world_.outcomes_.end(),
                                   [](const JobOutcome& outcome) { return outcome.crashed; });
  const bool joined = !coordinator_->error || !holds(coordinator_->error->text, "have not joined");
  for (const JobOutcome& outcome : world_.outcomes_) {
    if (crashed && joined && !outcome.crashed && outcome.at > last + kSoon)
      return fmt::format("{} ends {} after the crash", outcome.name, rounded(outcome.at - last));
  }
  return {};
}

}  // namespace weir
