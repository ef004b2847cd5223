#include "tests/core/protocol/job_world.h"

#include <algorithm>

#include "tests/core/protocol/job_process_sim.h"
#include "tests/core/protocol/job_story.h"

namespace weir {
namespace {

constexpr std::int64_t kRecord = 24;   // bytes of a machine's record
constexpr Duration kClose{5'000'000};  // until peers see that connections are closed

}  // namespace

const JobTally& JobWorld::tally() const { return coordinators_.front()->protocol().tally(); }

std::int64_t JobWorld::recorded() const { return coordinators_.front()->recorded(); }

JobWorld::JobWorld(const JobCase& what, std::uint64_t seed)
    : case_(what), network_(Random(seed).split(2), what.slowest) {
  processes_.reserve(4 * static_cast<std::size_t>(what.machines) + 4);
  network_.ended = [this](Pid pid) { ended(pid); };
  if (what.mistake == JobCase::Mistake::kJudgesFirst) network_.judge_first();
}

const JobFault* JobWorld::fault(JobFault::Kind kind, int place) const {
  const auto found = std::find_if(case_.faults.begin(), case_.faults.end(), [&](const JobFault& fault) {
    return fault.kind == kind && fault.place == place;
  });
  return found == case_.faults.end() ? nullptr : &*found;
}

std::string JobWorld::name(int place) const {
  return place < 0 ? "the coordinator" : fmt::format("gpu[{}]", place);
}

std::vector<std::pair<Instant, Instant>> JobWorld::stops(int place, int start) const {
  Stops all;
  for (const JobFault& fault : case_.faults) {
    if (start == 0 && fault.place == place && fault.kind == JobFault::Kind::kStop)
      all.emplace_back(fault.when, fault.when + fault.time);
  }
  return all;
}

void JobWorld::add_outcome(Pid pid, int place, int start) {
  outcome_of_[pid] = outcomes_.size();
  JobOutcome& outcome = outcomes_.emplace_back();
  outcome.place = place;
  outcome.start = start;
  outcome.name = name(place);
  outcome.began = network_.now();
}

void JobWorld::launch_coordinator(int start) {
  JobTerms terms;
  for (int i = 0; i < case_.machines; ++i) terms.seats.push_back({name(i), "", 1, kRecord});
  terms.version = kVersion;
  terms.inputs = {"", std::string(kInputs), case_.ahead ? "ahead" : "", ""};
  terms.hash = kPlanHash;
  terms.ahead = case_.ahead;
  for (int i = 0; i < (case_.ahead ? 2 : 1); ++i) terms.tokens.push_back(fmt::format("{}.{}", start, i));
  terms.patience = case_.patience;
  terms.planning = case_.patience + case_.planning;
  constexpr Duration kEndless{1'000'000'000'000};
  if (case_.mistake == JobCase::Mistake::kEndlessJoining) terms.patience = kEndless;
  if (case_.mistake == JobCase::Mistake::kEndlessPlanning) terms.planning = kEndless;
  terms.watched = case_.watched;
  terms.wires = {"tcp"};
  terms.check_host = [](const std::string&) { return Result<void>(); };
  const Pid pid = network_.add_hub(name(-1), start);
  hubs_.push_back(pid);
  add_outcome(pid, -1, start);
  auto process = std::make_unique<Coordinator>(*this, pid, start, std::move(terms));
  coordinators_.push_back(process.get());
  network_.start(pid, std::move(process));
}

Pid JobWorld::launch(int place, int start, bool twin) {
  const Pid pid = network_.add_member(name(place), 0);
  const std::size_t index = processes_.size();
  Process& process = processes_.emplace_back();
  process.place = place;
  process.start = start;
  process.pid = pid;
  add_outcome(pid, place, start);
  const bool other = !twin && start == 0 && fault(JobFault::Kind::kOtherVersion, place) != nullptr;
  MemberTerms terms;
  terms.patience = case_.patience;
  terms.reach = Duration(4'000'000'000);
  const JoinNote join = {place, other ? "2" : kVersion, {"host"}, {1}};
  auto machine = std::make_unique<Machine>(*this, index, terms, join);
  process.machine = machine.get();
  network_.start(pid, std::move(machine));
  network_.hand(pid, [raw = process.machine] { raw->begin(); });
  return pid;
}

void JobWorld::plan(std::size_t index) {
  Duration time = Duration(network_.random().between(1, case_.planning.ns()));
  const JobFault* const slow = fault(JobFault::Kind::kSlow, processes_[index].place);
  if (slow != nullptr) time += slow->time;
  network_.at(network_.now() + time, [this, index] {
    network_.hand(processes_[index].pid, [this, index] {
      Process& own = processes_[index];
      const JobFault* const broken = fault(JobFault::Kind::kBreak, own.place);
      const bool fails = own.start == 0 && broken != nullptr && broken->when < network_.now();
      const bool other = own.start == 0 && fault(JobFault::Kind::kOtherPlan, own.place) != nullptr;
      const PlanReport planned = {{other ? "other" : std::string(kPlanHash), "", "", ""}, case_.ahead};
      own.machine->planned(fails ? Result<PlanReport>(failure(name(own.place) + " is broken"))
                                 : Result<PlanReport>(planned));
    });
  });
}

std::vector<std::size_t> JobWorld::peers(const std::string& token) const {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    if (processes_[i].token == token) all.push_back(i);
  }
  return all;
}

void JobWorld::connect(std::size_t index, const std::string& token) {
  Process& process = processes_[index];
  process.token = token;
  process.work = Work::kConnecting;
  network_.at(network_.now() + case_.patience, [this, index, token] {
    if (processes_[index].token == token)
      give_up(index, Work::kConnecting, name(processes_[index].place) + " waits for its peers in vain");
  });
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    if (processes_[i].closed) lose(i);
  }
  meet_if_all_are_there(token);
}

void JobWorld::meet_if_all_are_there(const std::string& token) {
  const std::vector<std::size_t> all = peers(token);
  if (all.size() < static_cast<std::size_t>(case_.machines)) return;
  for (const std::size_t index : all) {
    const Duration time = Duration(network_.random().between(1, case_.connecting.ns()));
    network_.at(network_.now() + time, [this, index, token] {
      network_.hand(processes_[index].pid, [this, index, token] {
        Process& own = processes_[index];
        if (own.token != token || own.work != Work::kConnecting) return;
        own.work = Work::kConnected;
        own.machine->connected({});
      });
    });
  }
}

void JobWorld::run_plan(std::size_t index, Instant begin) {
  Process& process = processes_[index];
  const std::string token = process.token;
  network_.at(std::max(begin, network_.now()), [this, index, token] {
    network_.hand(processes_[index].pid, [this, index, token] {
      Process& own = processes_[index];
      if (own.token != token || own.work != Work::kConnected) return;
      own.work = Work::kRunning;
      own.runs_from = network_.now();
      for (std::size_t i = 0; i < processes_.size(); ++i) {
        if (processes_[i].closed) lose(i);
      }
      finish_if_all_run(token);
    });
  });
}

void JobWorld::finish_if_all_run(const std::string& token) {
  const std::vector<std::size_t> all = peers(token);
  const bool whole = all.size() == static_cast<std::size_t>(case_.machines) &&
                     std::all_of(all.begin(), all.end(),
                                 [&](std::size_t i) { return processes_[i].work == Work::kRunning; });
  if (!whole) return;
  for (const std::size_t index : all) {
    constexpr std::int64_t kApart = 100'000'000;
    network_.at(network_.now() + case_.running + Duration(network_.random().between(0, kApart)),
                [this, index, token] { finish(index, token); });
  }
}

// No machine finishes while a peer is stopped.
void JobWorld::finish(std::size_t index, const std::string& token) {
  constexpr Duration kStep{50'000'000};
  Process& process = processes_[index];
  if (process.token != token || process.work != Work::kRunning) return;
  for (const std::size_t peer : peers(token)) {
    if (!network_.stopped(processes_[peer].pid)) continue;
    if (network_.now() - process.runs_from > case_.patience + case_.running)
      return give_up(index, Work::kRunning, name(process.place) + " waits for its peers in vain");
    return network_.at(network_.now() + kStep, [this, index, token] { finish(index, token); });
  }
  network_.hand(process.pid, [this, index, token] {
    Process& own = processes_[index];
    if (own.token != token || own.work != Work::kRunning) return;
    own.work = Work::kFinished;
    const JobFault* const broken = fault(JobFault::Kind::kBreak, own.place);
    if (own.start == 0 && broken != nullptr && broken->when < network_.now()) {
      own.machine->ran(failure(name(own.place) + " is broken"));
    } else {
      network_.send(own.pid, note_of(RecordNote{0}, {}, std::string(10, 'x')));
      network_.send(own.pid, note_of(RecordNote{10}, {}, std::string(kRecord - 10, 'x')));
      own.machine->ran(DoneNote{1, {{"tcp", case_.machines - 1}}, {}});
    }
  });
}

void JobWorld::give_up(std::size_t index, Work at, const std::string& why) {
  if (processes_[index].work != at) return;
  network_.hand(processes_[index].pid, [this, index, at, why] {
    Process& own = processes_[index];
    if (own.work != at) return;
    own.work = Work::kFinished;
    if (at == Work::kConnecting) {
      own.machine->connected(failure(why));
    } else {
      own.machine->ran(failure(why));
    }
  });
}

// If a process's connections close, its peers see it while they need them.
void JobWorld::lose(std::size_t closed) {
  const std::string token = processes_[closed].token;
  if (token.empty()) return;
  for (const std::size_t index : peers(token)) {
    if (index == closed) continue;
    network_.at(network_.now() + Duration(network_.random().between(1, kClose.ns())), [this, index, closed] {
      const Process& peer = processes_[index];
      if (peer.token != processes_[closed].token) return;
      give_up(index, peer.work == Work::kRunning ? Work::kRunning : Work::kConnecting,
              fmt::format("{} has lost {}", name(peer.place), name(processes_[closed].place)));
    });
  }
}

void JobWorld::ended(Pid pid) {
  JobOutcome& outcome = outcomes_[outcome_of_.at(pid)];
  outcome.ended = true;
  outcome.crashed = network_.crashed(pid);
  outcome.at = network_.now();
  for (std::size_t i = 0; i < hubs_.size(); ++i) {
    const bool known =
        !outcome.crashed || coordinators_[i]->protocol().phase() == JobCoordinator::Phase::kDismissing;
    if (hubs_[i] == pid && known) outcome.error = coordinators_[i]->protocol().error();
  }
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    if (processes_[i].pid != pid) continue;
    if (!outcome.crashed) outcome.error = processes_[i].machine->protocol().error();
    processes_[i].closed = true;
    lose(i);
  }
}

void JobWorld::inject(const JobFault& fault) {
  using Kind = JobFault::Kind;
  Pid pid = hubs_.empty() ? 0 : hubs_.front();
  for (const Process& process : processes_) {
    if (process.place == fault.place && process.start == 0) pid = process.pid;
  }
  if (fault.kind == Kind::kTwin) {
    launch(fault.place, 1, true);
  } else if (fault.kind == Kind::kStop) {
    network_.stop_until(pid, network_.now() + fault.time);
  } else if (fault.kind == Kind::kCut) {
    network_.cut(pid, fault.time);
  } else if ((fault.kind == Kind::kCrash || fault.kind == Kind::kRestart) && network_.lives(pid)) {
    network_.crash(pid);
    if (case_.watched && fault.place >= 0) {
      network_.at(network_.now() + Duration(network_.random().between(1, 100'000'000)), [this, fault] {
        if (!hubs_.empty() && network_.lives(hubs_.front())) {
          network_.hand(hubs_.front(), [this, fault] {
            coordinators_.front()->stop(Error{name(fault.place) + " has crashed"}, network_.now());
          });
        }
      });
    }
    if (fault.kind == Kind::kCrash) return;
    network_.at(network_.now() + fault.time, [this, fault] {
      if (fault.place < 0) {
        launch_coordinator(1);
      } else {
        launch(fault.place, 1, false);
      }
    });
  }
}

std::string JobWorld::run() {
  using Kind = JobFault::Kind;
  const JobFault* const late = fault(Kind::kLate, -1);
  network_.at(Instant() + (late != nullptr ? late->time : Duration(0)), [this] { launch_coordinator(0); });
  for (int i = 0; i < case_.machines; ++i) {
    const JobFault* const slow = fault(Kind::kLate, i);
    const Duration begin = slow != nullptr ? slow->time : Duration(network_.random().between(0, 500'000'000));
    network_.at(Instant() + begin, [this, i] { launch(i, 0, false); });
  }
  for (const JobFault& fault : case_.faults) {
    if (fault.kind != Kind::kLate)
      network_.at(fault.when, [this, fault] {
        const bool begun = fault.place < 0
                               ? !hubs_.empty()
                               : std::any_of(processes_.begin(), processes_.end(),
                                             [&](const Process& one) { return one.place == fault.place; });
        if (begun) inject(fault);
      });
  }
  network_.run(Instant(400'000'000'000));
  return broken_.empty() ? JobStory(*this).wrong() : broken_;
}

}  // namespace weir
