#include "tests/core/protocol/session_story.h"

#include <algorithm>

#include "core/base/units_text.h"
#include "tests/core/protocol/session_member_sim.h"

namespace weir {
namespace {

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

constexpr std::string_view kStoodStill = "; rank 0, which leads, itself stood still";

}  // namespace

std::string SessionStory::wrong() const {
  for (const SessionOutcome& outcome : session_.outcomes_) {
    if (const std::string why = wrong_with(outcome); !why.empty())
      return fmt::format("{} (process {} of it) {}", outcome.name, outcome.start, why);
  }
  if (const std::string why = unnoticed(); !why.empty()) return why;
  if (const std::string why = left_behind(); !why.empty()) return why;
  return late();
}

bool SessionStory::only(std::initializer_list<Kind> kinds) const {
  return std::all_of(session_.case_.faults.begin(), session_.case_.faults.end(),
                     [&](const SessionFault& fault) {
                       return std::find(kinds.begin(), kinds.end(), fault.kind) != kinds.end();
                     });
}

const SessionOutcome* SessionStory::first_of(int place) const {
  const auto found =
      std::find_if(session_.outcomes_.begin(), session_.outcomes_.end(),
                   [&](const SessionOutcome& one) { return one.place == place && one.start == 0; });
  return found == session_.outcomes_.end() ? nullptr : &*found;
}

bool SessionStory::any(std::initializer_list<Kind> kinds) const {
  return std::any_of(session_.case_.faults.begin(), session_.case_.faults.end(),
                     [&](const SessionFault& fault) {
                       return std::find(kinds.begin(), kinds.end(), fault.kind) != kinds.end();
                     });
}

bool SessionStory::has(int place, std::initializer_list<Kind> kinds, Instant by) const {
  return std::any_of(session_.case_.faults.begin(), session_.case_.faults.end(),
                     [&](const SessionFault& fault) {
                       const bool always = fault.kind == Kind::kLate || fault.kind == Kind::kSlow ||
                                           fault.kind == Kind::kOtherVersion ||
                                           fault.kind == Kind::kOtherPlan || fault.kind == Kind::kDiffers;
                       return fault.place == place && (always || fault.when <= by) &&
                              std::find(kinds.begin(), kinds.end(), fault.kind) != kinds.end();
                     });
}

int SessionStory::place(const std::string& name) const {
  for (int i = 0; i < session_.case_.ranks + session_.case_.servers; ++i) {
    if (session_.name(i) == name) return i;
  }
  return -2;
}

bool SessionStory::apart(const SessionOutcome& outcome) const {
  return has(0, {Kind::kCrash, Kind::kRestart, Kind::kStop}, outcome.at) ||
         has(outcome.place, {Kind::kCut}, outcome.at);
}

bool SessionStory::culprit(const std::string& name, Instant by) const {
  return has(place(name), {Kind::kCrash, Kind::kRestart, Kind::kBreak, Kind::kCut, Kind::kStop, Kind::kAbort},
             by);
}

bool SessionStory::all_in_trouble(const std::string& names, Instant by) const {
  for (std::size_t at = 0; at < names.size();) {
    const std::size_t end = std::min(names.find(", ", at), names.size());
    if (!has(place(names.substr(at, end - at)),
             {Kind::kCrash, Kind::kRestart, Kind::kStop, Kind::kCut, Kind::kLate, Kind::kTwin}, by))
      return false;
    at = end + 2;
  }
  return !names.empty();
}

bool SessionStory::lists_absent(const std::string& names) const {
  for (int place = 0; place < session_.case_.ranks + session_.case_.servers; ++place) {
    const bool placed =
        std::any_of(session_.outcomes_.begin(), session_.outcomes_.end(),
                    [&](const SessionOutcome& one) { return one.place == place && one.placed.has_value(); });
    if (placed == holds(names, session_.name(place))) return false;
  }
  return true;
}

std::string SessionStory::wrong_with(const SessionOutcome& outcome) const {
  if (outcome.crashed) return {};
  if (!outcome.ended) return "hangs";
  const SessionCase& what = session_.case_;
  const std::int64_t steps = std::int64_t{what.tensors} * what.rounds + 4;
  Duration most = (what.patience + what.computing) * steps + what.patience * 4;
  for (const SessionFault& fault : what.faults) most = most + fault.time * 2;
  if (any({Kind::kIdle})) most = most + Duration(30'000'000'000);
  if (outcome.at > Instant() + most) return "ended late, at " + text(outcome.at - Instant());
  if (only({Kind::kDiffers, Kind::kSwaps, Kind::kRefuses}) && outcome.error)  // they cost tensors only
    return "fails although nothing went wrong: " + outcome.error->text;
  if (outcome.place >= 0) return wrong_member(outcome);
  // The others have ended with the earlier leader.
  if (outcome.start > 0 && outcome.error && holds(outcome.error->text, "these have not joined: ")) return {};
  return outcome.error ? wrong_verdict(outcome.error->text, outcome.at) : wrong_goodbye(outcome);
}

// After goodbye, all ranks have had all their rounds or know what was refused, and nothing has failed.
std::string SessionStory::wrong_goodbye(const SessionOutcome& leader) const {
  std::vector<const Member*> members;
  for (const Member* const one : session_.members_) {
    if (one->welcome() == fmt::format("{}", leader.start)) members.push_back(one);
  }
  for (int place = 0; place < session_.case_.ranks + session_.case_.servers; ++place) {
    const auto found = std::find_if(members.begin(), members.end(),
                                    [&](const Member* one) { return one->place() == place; });
    if (found == members.end()) return "says goodbye without " + session_.name(place);
    const Member& member = **found;
    const bool first = member.start() == 0;
    if (first && session_.fault(Kind::kOtherVersion, place) != nullptr)
      return fmt::format("says goodbye although {} has another version", session_.name(place));
    const Instant arrives = member.failed_at().value_or(leader.at) + session_.case_.slowest + kLateLook;
    if (arrives < leader.at && !has(place, {Kind::kCut}, leader.at) && !has(0, {Kind::kStop}, leader.at))
      return fmt::format("says goodbye although {} has failed", session_.name(place));
    if (place >= session_.case_.ranks) continue;
    const bool left = member.left_at() && *member.left_at() <= leader.at;
    if (!left || !(member.finished() || (first && has(place, {Kind::kLeave}, leader.at))))
      return fmt::format("says goodbye before {} has finished", session_.name(place));
  }
  return unrefused(members);
}

// Which tensor some rank should have heard to be refused, but has not.
std::string SessionStory::unrefused(const std::vector<const Member*>& members) const {
  std::set<std::string> refused;
  std::map<std::string, std::int64_t> sizes;
  bool refuses = false;
  for (const Member* const one : members) {
    if (one->place() >= session_.case_.ranks || !one->declared()) continue;
    for (const TensorNote& tensor : one->tensors()) {
      if (sizes.try_emplace(tensor.name, tensor.elements).first->second != tensor.elements)
        refused.insert(tensor.name);
    }
    refuses = refuses || !one->refuses().empty();
    if (!one->refuses().empty()) refused.insert(one->refuses());
  }
  // Nobody waits for tensors that are refused for other reasons, so all may leave before a swap is noticed.
  const bool swapped =
      std::any_of(members.begin(), members.end(), [](const Member* one) { return one->swapped(); });
  if (swapped && session_.case_.ranks > 1 && refused.empty()) refused.insert(kLabel);
  for (const Member* const one : members) {
    // A rank whose peers have heard goodbye earlier may take that for a failure, and read no more news.
    if (one->place() >= session_.case_.ranks || one->failed_at() ||
        has(one->place(), {Kind::kCut}, session_.network_.now()))
      continue;
    for (const std::string& name : refused) {
      if (!one->refused(name))
        return fmt::format("has not told {} that '{}' is refused", session_.name(one->place()), name);
    }
  }
  return {};
}

// If a process with a place is gone for longer than the silence allowed, the session is over soon.
std::string SessionStory::unnoticed() const {
  const SessionOutcome* const leader = first_of(-1);
  if (leader == nullptr) return {};
  const Stops stops = session_.stops(0, 0);
  for (const SessionFault& fault : session_.case_.faults) {
    const SessionOutcome* const gone = first_of(fault.place);
    const bool matters = (fault.kind <= Kind::kStop || fault.kind == Kind::kCut) && gone != nullptr &&
                         gone->placed && *gone->placed <= fault.when && gone->at >= fault.when;
    if (!matters) continue;
    const Instant noticed = latest(fault.when + session_.case_.slowest + kSilence, stops, kSilence);
    if (fault.kind == Kind::kStop && fault.when + fault.time <= noticed) continue;
    if (leader->at > latest(noticed, stops))
      return fmt::format("the leader ends {} after {} has fallen silent", rounded(leader->at - fault.when),
                         gone->name);
  }
  return {};
}

// Once the leader has gone, nobody stays in its session for long.
std::string SessionStory::left_behind() const {
  const SessionOutcome* const leader = first_of(-1);
  if (leader == nullptr) return {};
  for (const Member* const one : session_.members_) {
    if (one->welcome() != "0") continue;
    const SessionOutcome& outcome = session_.outcomes_[session_.outcome_of_.at(one->pid())];
    const Instant last = std::max(leader->at + session_.case_.slowest, one->planned_at());
    if (outcome.at > latest(last + kSilence + kMoment, session_.stops(one->place(), one->start()), kSilence))
      return fmt::format("{} ends {} after the leader", outcome.name, rounded(outcome.at - leader->at));
  }
  return {};
}

// Checks the reason that a process itself gives for its failure.
std::string SessionStory::wrong_reason(const std::string& text, Instant at) const {
  if (ends_with(text, " is broken"))
    return has(place(text.substr(0, text.rfind(" is "))), {Kind::kBreak}, at)
               ? ""
               : "blames one that is not: " + text;
  if (holds(text, "its disk is full")) return any({Kind::kAbort}) ? "" : "blames a disk: " + text;
  if (holds(text, " has lost ")) {
    const std::string lost = text.substr(text.find(" has lost ") + 10);
    return culprit(lost, at) ? "" : "blames one that has done nothing: " + text;
  }
  if (holds(text, " has waited ")) {
    for (int i = 0; i < session_.case_.ranks; ++i) {
      const bool blamed =
          holds(text, fmt::format("by rank {}", i)) || holds(text, fmt::format(", rank {}", i));
      if (blamed &&
          !has(i,
               {Kind::kIdle, Kind::kLeave, Kind::kStop, Kind::kCut, Kind::kCrash, Kind::kRestart, Kind::kSlow,
                Kind::kLate, Kind::kTwin},
               at) &&
          !any({Kind::kIdle, Kind::kLeave, Kind::kSlow, Kind::kStop}))
        return "blames a rank that has handed it over: " + text;
    }
    return session_.case_.faults.empty() ? "has waited for nobody: " + text : "";
  }
  if (ends_with(text, " has ended"))
    return session_.case_.faults.empty() ? "has not waited for others: " + text : "";
  if (holds(text, " waits for its peers in vain") || holds(text, "the leader has not let "))
    return session_.case_.faults.empty() ? "has waited for nobody: " + text : "";
  return "reports an unexpected reason: " + text;
}

std::string SessionStory::wrong_verdict(const std::string& whole, Instant at) const {
  const std::string text = whole.substr(0, whole.find(kStoodStill));
  const bool stood_still = text != whole;
  const auto check = [&](bool right) { return right ? std::string() : "has a wrong story: " + whole; };
  if (stood_still && !has(0, {Kind::kStop}, at)) return "has not stood still: " + whole;
  if (text == "rank 0 has ended" || text == "rank 0 has given up") {
    return check(std::any_of(
        session_.outcomes_.begin(), session_.outcomes_.end(),
        [&](const SessionOutcome& one) { return one.place == 0 && one.ended && one.error && one.at <= at; }));
  }
  if (ends_with(text, " has said nothing for 3s")) {
    const std::string name = text.substr(0, text.find(" has said"));
    const bool silent =
        has(place(name), {Kind::kCrash, Kind::kRestart, Kind::kCut, Kind::kStop}, at) ||
        std::any_of(session_.outcomes_.begin(), session_.outcomes_.end(), [&](const SessionOutcome& one) {
          return one.name == name && one.ended && one.at + Duration(2'000'000'000) < at;
        });
    return check(silent);
  }
  if (holds(text, "these have not joined: "))
    return check(
        lists_absent(text.substr(text.rfind(": ") + 2)) &&
        (all_in_trouble(text.substr(text.rfind(": ") + 2), at) || has(0, {Kind::kStop, Kind::kLate}, at)));
  if (holds(text, " runs version 2"))
    return check(has(place(text.substr(0, text.find(" runs"))), {Kind::kOtherVersion}, at));
  if (ends_with(text, ": plans of the same tensors differ: the programs are different builds"))
    return check(any({Kind::kOtherPlan}));
  const std::size_t says = text.rfind(" (says ");
  if (says == std::string::npos) return check(false);
  if (stood_still && holds(text, " has lost ")) return {};  // because the peer had indeed gone
  return wrong_reason(text.substr(0, says), at);
}

std::string SessionStory::wrong_member(const SessionOutcome& outcome) const {
  bool goodbye = false;
  for (const SessionOutcome& leader : session_.outcomes_) {
    if (leader.place >= 0) continue;
    if (leader.ended && !leader.crashed && !leader.error) goodbye = true;
    if (outcome.error && leader.error && outcome.error->text == leader.error->text) return {};
  }
  if (!outcome.error) return goodbye ? "" : "has left a session that nobody has ended";
  const std::string& text = outcome.error->text;
  const auto check = [&](bool right) { return right ? std::string() : "has a wrong story: " + text; };
  if (text == "rank 0, which leads the session, has said nothing for 3s") return check(apart(outcome));
  const bool strange = holds(text, "the session has begun without it") ||
                       holds(text, " has joined already") || holds(text, "expected 'seat'");
  if (strange)
    return check(outcome.start > 0 || any({Kind::kRestart, Kind::kTwin}) ||
                 has(outcome.place, {Kind::kCut, Kind::kLate}, outcome.at));
  // The leader reports first who is missing, unless it cannot.
  const SessionOutcome* const leader = first_of(-1);
  if (holds(text, "the leader has not let "))
    return check(outcome.start > 0 ||
                 has(outcome.place, {Kind::kCut, Kind::kTwin, Kind::kRestart}, outcome.at) ||
                 has(0, {Kind::kCrash, Kind::kRestart, Kind::kStop, Kind::kLate}, outcome.at) ||
                 (leader != nullptr && !outcome.placed && leader->at < outcome.at));
  // Its own guess counts only if nobody could send it the cause.
  if (!apart(outcome)) return "does not know the cause: " + text;
  return wrong_reason(text, outcome.at);
}

// If processes crash after all have their seats, and nothing else happens, all end within five seconds.
std::string SessionStory::late() const {
  constexpr Duration kSoon{5'000'000'000};
  Instant last;
  for (const SessionFault& fault : session_.case_.faults) {
    if (fault.kind != Kind::kCrash) return {};
    last = std::max(last, fault.when);
  }
  bool seated = true;
  bool crashed = false;
  for (const SessionOutcome& outcome : session_.outcomes_) {
    if (outcome.place >= 0) seated = seated && outcome.seated;
    crashed = crashed || outcome.crashed;
  }
  for (const SessionOutcome& outcome : session_.outcomes_) {
    if (seated && crashed && !outcome.crashed && outcome.at > last + kSoon)
      return fmt::format("{} ends {} after the crash", outcome.name, rounded(outcome.at - last));
  }
  return {};
}

}  // namespace weir
