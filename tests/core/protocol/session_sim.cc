#include "tests/core/protocol/session_sim.h"

#include <algorithm>

#include "tests/core/protocol/session_member_sim.h"
#include "tests/core/protocol/session_story.h"

namespace weir {
namespace {

constexpr std::int64_t kClose = 5'000'000;  // ns until peers see that connections are closed

}  // namespace

SimulatedSession::SimulatedSession(const SessionCase& what, std::uint64_t seed)
    : case_(what), network_(Random(seed).split(4), what.slowest) {
  network_.ended = [this](Pid pid) { ended(pid); };
}

Role SimulatedSession::role(int place) const {
  return place < case_.ranks ? Role{false, place} : Role{true, place - case_.ranks};
}

std::string SimulatedSession::name(int place) const {
  return place < 0 ? "the leader" : weir::text(role(place));
}

const SessionFault* SimulatedSession::fault(Kind kind, int place) const {
  const auto found = std::find_if(case_.faults.begin(), case_.faults.end(), [&](const SessionFault& fault) {
    return fault.kind == kind && fault.place == place;
  });
  return found == case_.faults.end() ? nullptr : &*found;
}

std::vector<std::pair<Instant, Instant>> SimulatedSession::stops(int place, int start) const {
  Stops all;
  for (const SessionFault& fault : case_.faults) {
    if (start == 0 && fault.place == place && fault.kind == Kind::kStop)
      all.emplace_back(fault.when, fault.when + fault.time);
  }
  return all;
}

void SimulatedSession::launch_leader(int start) {
  LeaderTerms terms;
  for (int i = 0; i < case_.ranks + case_.servers; ++i) terms.roles.push_back(role(i));
  terms.version = kSessionVersion;
  constexpr Duration kEndless{1'000'000'000'000};
  terms.patience = case_.mistake == Mistake::kEndlessSeating ? kEndless : case_.patience;
  terms.warn_after = case_.patience * 2;
  terms.token = [start, groups = 0]() mutable {
    return Result<std::string>(fmt::format("{}.{}", start, groups++));
  };
  const Pid pid = network_.add_hub(name(-1), 0);
  outcome_of_[pid] = outcomes_.size();
  outcomes_.push_back({-1, start, name(-1)});
  auto process = std::make_unique<Leader>(*this, pid, start, std::move(terms));
  leaders_.push_back(process.get());
  network_.start(pid, std::move(process));
}

std::size_t SimulatedSession::launch(int place, int start, bool twin) {
  const Pid pid = network_.add_member(name(place), 0);
  const std::size_t index = members_.size();
  outcome_of_[pid] = outcomes_.size();
  outcomes_.push_back({place, start, name(place)});
  const bool other = !twin && start == 0 && fault(Kind::kOtherVersion, place) != nullptr;
  FollowerTerms terms;
  terms.seat = {
      role(place).server, role(place).number, other ? "2" : kSessionVersion, {{"host"}, {1}, "", ""}};
  terms.patience = case_.patience;
  terms.not_admitted = fmt::format("the leader has not let {} in", name(place));
  auto process = std::make_unique<Member>(*this, index, pid, place, start, std::move(terms));
  members_.push_back(process.get());
  network_.start(pid, std::move(process));
  network_.hand(pid, [this, index] { members_[index]->act(); });
  return index;
}

std::vector<std::size_t> SimulatedSession::peers(const std::string& token) const {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    for (const auto& [number, group] : members_[i]->groups()) {
      if (group.token == token) all.push_back(i);
    }
  }
  return all;
}

std::size_t SimulatedSession::size_of(const Group& group) const {
  const std::size_t ranks = group.ranks.empty() ? static_cast<std::size_t>(case_.ranks) : group.ranks.size();
  return ranks + static_cast<std::size_t>(case_.servers);
}

void SimulatedSession::open(std::size_t index, const OpenNote& note) {
  Duration time = Duration(network_.random().between(1, case_.opening.ns()));
  const SessionFault* const slow = fault(Kind::kSlow, members_[index]->place());
  if (slow != nullptr) time += slow->time;
  network_.at(network_.now() + time, [this, index, note] {
    network_.hand(members_[index]->pid(), [this, index, note] {
      Member& own = *members_[index];
      own.planned();
      const SessionFault* const broken = fault(Kind::kBreak, own.place());
      if (own.start() == 0 && broken != nullptr && broken->when <= network_.now())
        return own.fail(name(own.place()) + " is broken");
      own.groups()[note.group] = {note.tensors, note.token, note.ranks, {}};
      network_.at(network_.now() + case_.patience, [this, index, group = note.group] {
        network_.hand(members_[index]->pid(), [this, index, group] {
          Member& waiting = *members_[index];
          if (waiting.groups()[group].state == Group::State::kConnecting)
            waiting.fail(name(waiting.place()) + " waits for its peers in vain");
        });
      });
      for (std::size_t i = 0; i < members_.size(); ++i) {
        if (members_[i]->closed) lose(i);
      }
      meet_if_all_are_there(note.token);
    });
  });
}

void SimulatedSession::begin(Group& group) {
  group.state = Group::State::kBegun;
  for (const std::size_t index : peers(group.token)) {
    for (const auto& [number, other] : members_[index]->groups()) {
      if (other.token == group.token && other.hash != group.hash)
        broken_ = name(members_[index]->place()) + " has another plan of a group that begins";
    }
  }
}

void SimulatedSession::meet_if_all_are_there(const std::string& token) {
  const std::vector<std::size_t> all = peers(token);
  for (const auto& [number, group] : members_[all.front()]->groups()) {
    if (group.token == token && size_of(group) != all.size()) return;
  }
  for (const std::size_t index : all) {
    network_.at(
        network_.now() + Duration(network_.random().between(1, case_.opening.ns())), [this, index, token] {
          network_.hand(members_[index]->pid(), [this, index, token] { members_[index]->connected(token); });
        });
  }
}

// Peers that share a group with this process see its connections close.
void SimulatedSession::lose(std::size_t closed) {
  for (const auto& [number, group] : members_[closed]->groups()) {
    for (const std::size_t index : peers(group.token)) {
      if (index == closed) continue;
      network_.at(network_.now() + Duration(network_.random().between(1, kClose)), [this, index, closed] {
        network_.hand(members_[index]->pid(), [this, index, closed] {
          members_[index]->fail(
              fmt::format("{} has lost {}", name(members_[index]->place()), name(members_[closed]->place())));
        });
      });
    }
  }
}

bool SimulatedSession::summed(std::size_t index, const std::string& tensor, int round) const {
  for (const auto& [number, group] : members_[index]->groups()) {
    const auto own = std::find_if(group.tensors.begin(), group.tensors.end(),
                                  [&](const TensorNote& one) { return one.name == tensor; });
    if (own == group.tensors.end() || group.state != Group::State::kBegun) continue;
    const std::vector<std::size_t> all = peers(group.token);
    return std::all_of(all.begin(), all.end(), [&](std::size_t peer) {
      const bool rank = members_[peer]->place() < case_.ranks;
      return !network_.stopped(members_[peer]->pid()) && (!rank || members_[peer]->given(tensor) >= round);
    });
  }
  return false;
}

void SimulatedSession::ended(Pid pid) {
  SessionOutcome& outcome = outcomes_[outcome_of_.at(pid)];
  outcome.ended = true;
  outcome.crashed = network_.crashed(pid);
  outcome.at = network_.now();
  for (Leader* const leader : leaders_) {
    if (leader->pid() == pid) outcome.error = leader->protocol().error();
  }
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (members_[i]->pid() != pid) continue;
    if (!outcome.crashed) outcome.error = members_[i]->protocol().error();
    members_[i]->closed = true;
    lose(i);
    // The leader ends with the process of rank 0.
    const std::size_t start = static_cast<std::size_t>(outcome.start);
    if (outcome.place != 0 || outcome.crashed || start >= leaders_.size() || outcome.name.empty()) continue;
    const SessionFault* const twin = fault(Kind::kTwin, 0);
    if (start > 0 && twin != nullptr) continue;
    network_.at(network_.now() + Duration(1'000'000), [this, start] {
      network_.hand(leaders_[start]->pid(), [this, start] { leaders_[start]->stop(network_.now()); });
    });
  }
}

void SimulatedSession::inject(const SessionFault& fault) {
  std::vector<Pid> pids;
  for (const Member* const member : members_) {
    if (member->place() == fault.place && member->start() == 0) pids.push_back(member->pid());
  }
  if (pids.empty()) return;
  if (fault.place == 0 && !leaders_.empty()) pids.push_back(leaders_.front()->pid());
  if (fault.kind == Kind::kTwin) {
    launch(fault.place, 1, true);
  } else if (fault.kind == Kind::kStop) {
    for (const Pid pid : pids) network_.stop_until(pid, network_.now() + fault.time);
  } else if (fault.kind == Kind::kCut) {
    network_.cut(pids.front(), fault.time);
  } else if ((fault.kind == Kind::kCrash || fault.kind == Kind::kRestart) && network_.lives(pids.front())) {
    for (const Pid pid : pids) network_.crash(pid);
    if (fault.kind == Kind::kCrash) return;
    network_.at(network_.now() + fault.time, [this, fault] {
      if (fault.place == 0) launch_leader(1);
      launch(fault.place, 1, false);
    });
  }
}

std::string SimulatedSession::run() {
  for (int i = 0; i < case_.ranks + case_.servers; ++i) {
    const SessionFault* const late = fault(Kind::kLate, i);
    const Duration begin = late != nullptr ? late->time : Duration(network_.random().between(0, 500'000'000));
    network_.at(Instant() + begin, [this, i] {
      if (i == 0) launch_leader(0);
      launch(i, 0, false);
    });
  }
  for (const SessionFault& fault : case_.faults) network_.at(fault.when, [this, fault] { inject(fault); });
  network_.run(Instant(400'000'000'000));
  return broken_.empty() ? SessionStory(*this).wrong() : broken_;
}

}  // namespace weir
