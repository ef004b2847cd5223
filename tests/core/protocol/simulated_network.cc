#include "tests/core/protocol/simulated_network.h"

#include <algorithm>

#include "core/protocol/silence.h"

namespace weir {
namespace {

constexpr Duration kAgain{100'000'000};  // between attempts to connect

}  // namespace

Pid SimulatedNetwork::add_hub(const std::string& name, int key) {
  slots_.emplace_back();
  slots_.back().name = name;
  slots_.back().key = key;
  slots_.back().hub = true;
  return slots_.size() - 1;
}

Pid SimulatedNetwork::add_member(const std::string& name, int key) {
  const Pid pid = add_hub(name, key);
  slots_[pid].hub = false;
  return pid;
}

void SimulatedNetwork::start(Pid pid, std::unique_ptr<SimulatedProcess> process) {
  Slot& slot = slots_[pid];
  slot.process = std::move(process);
  slot.state = State::kRunning;
  if (slot.hub) hub_ = pid;
  if (!slot.hub) at(now_ + delay(), [this, pid] { connect(pid); });
  at(now_ + kHeartbeat, [this, pid] { beat(pid); });
  serve(pid);
}

Duration SimulatedNetwork::delay() {
  // Most notes are fast; some take as long as is allowed.
  const double part = random_.uniform();
  return Duration(1 + static_cast<std::int64_t>(static_cast<double>(slowest_.ns()) * part * part * part));
}

void SimulatedNetwork::at(Instant when, std::function<void()> call) {
  queue_.push_back({std::max(when, now_), events_++, std::move(call)});
  std::push_heap(queue_.begin(), queue_.end(), std::greater<>());
}

void SimulatedNetwork::hand(Pid pid, std::function<void()> call) {
  slots_[pid].calls.push_back(std::move(call));
  serve(pid);
}

void SimulatedNetwork::connect(Pid pid) {
  Slot& member = slots_[pid];
  if (member.state != State::kRunning || !member.connection.empty()) return;
  const bool listened = hub_ && lives(*hub_) && !stopped(*hub_);
  if (!listened || slots_[*hub_].key != member.key) {
    // A member with another key is let in but ignored. If there is no hub at all, the attempt fails.
    if (listened) member.refused_since.reset();
    if (!hub_ || !lives(*hub_)) member.refused_since = member.refused_since.value_or(now_);
    return at(now_ + kAgain, [this, pid] { connect(pid); });
  }
  member.refused_since.reset();
  member.peer = *hub_;
  member.connection = fmt::format("{}/{}", pid, ++member.connections);
  member.there = member.back = now_;
  for (Note& note : std::exchange(member.unsent, {})) pass_on(pid, std::move(note));
}

void SimulatedNetwork::disconnect(Slot& member) { member.connection.clear(); }

void SimulatedNetwork::send(Pid from, Note note) {
  const Slot& slot = slots_[from];
  if (log && note.type != AliveNote::kType) {
    std::string into = slot.hub ? "nobody" : "the hub";  // its connection is lost
    for (const Slot& other : slots_) {
      if (slot.hub ? other.connection == note.from : other.hub) into = other.name;
    }
    log(fmt::format("{:6.3f} s  {} -> {}: {}{}", (now_ - Instant()).seconds(), slot.name, into, note.type,
                    note.type == FailedNote::kType ? " (" + reason_in(note) + ")" : ""));
  }
  pass_on(from, std::move(note));
}

void SimulatedNetwork::pass_on(Pid from, Note note) {
  Slot& slot = slots_[from];
  if (!slot.hub) {
    if (slot.connection.empty()) return slot.unsent.push_back(std::move(note));
    note.from = slot.connection;
    return transmit(from, slot.peer, std::move(note));
  }
  for (Pid pid = 0; pid < slots_.size(); ++pid) {
    if (slots_[pid].connection.empty() || slots_[pid].connection != note.from) continue;
    return transmit(from, pid, std::move(note));
  }
}

void SimulatedNetwork::transmit(Pid from, Pid into, Note note) {
  Slot& member = slots_[slots_[from].hub ? into : from];
  Instant& last = slots_[from].hub ? member.back : member.there;
  last = std::max(last + Duration(1), now_ + delay());
  const Pid pid = slots_[from].hub ? into : from;
  at(last, [this, pid, into, connection = member.connection, note = std::move(note)]() mutable {
    // Lost with its connection.
    if (slots_[pid].connection != connection || slots_[into].state != State::kRunning) return;
    if (!slots_[into].hub) note.from.clear();
    slots_[into].inbox.push_back(std::move(note));
    serve(into);
  });
}

void SimulatedNetwork::keep_alive(Pid pid, const std::string& connection) {
  slots_[pid].beats.push_back(connection);
}

void SimulatedNetwork::beat(Pid pid) {
  Slot& slot = slots_[pid];
  if (slot.state != State::kRunning) return;
  if (stopped(pid)) return at(slot.stopped_until, [this, pid] { beat(pid); });
  for (const std::string& connection : slot.beats)
    send(pid, {connection, std::string(AliveNote::kType), "{}", ""});
  at(now_ + kHeartbeat, [this, pid] { beat(pid); });
}

// Like real drivers: first the notes that have arrived, then deadlines.
void SimulatedNetwork::serve(Pid pid) {
  Slot* slot = &slots_[pid];
  const auto runs = [&] { return lives(pid) && !stopped(pid); };
  if (judges_first_ && runs() && slot->process->listens() && now_ >= slot->process->wake()) look(pid);
  while (runs() && !slot->process->over()) {
    if (!slot->calls.empty()) {
      const std::function<void()> call = std::move(slot->calls.front());
      slot->calls.pop_front();
      call();
    } else if (!slot->inbox.empty() && slot->process->listens()) {
      Note note = std::move(slot->inbox.front());
      slot->inbox.pop_front();
      slot->process->hear(std::move(note), now_);
    } else {
      break;
    }
    slot = &slots_[pid];  // the calls may have added processes
  }
  if (!runs()) return;
  if (!slot->process->over() && slot->process->listens() && now_ >= slot->process->wake()) look(pid);
  if (slot->process->over()) return end(pid, State::kEnded);
  schedule(pid);
}

void SimulatedNetwork::look(Pid pid) {
  const Slot& slot = slots_[pid];
  slot.process->tick(now_, slot.refused_since ? now_ - *slot.refused_since : Duration(0));
}

void SimulatedNetwork::schedule(Pid pid) {
  Slot& slot = slots_[pid];
  if (!slot.process->listens()) return;
  const Instant wake = std::max(slot.process->wake(), now_ + Duration(1));
  if (slot.wakes && *slot.wakes <= wake && *slot.wakes > now_) return;
  constexpr std::int64_t kLate = 10'000'000;
  const Instant when = wake + Duration(random_.between(0, kLate));
  slot.wakes = when;
  at(when, [this, pid, when] {
    if (slots_[pid].wakes != when) return;
    slots_[pid].wakes.reset();
    serve(pid);
  });
}

void SimulatedNetwork::end(Pid pid, State state) {
  Slot& slot = slots_[pid];
  slot.state = state;
  if (state == State::kCrashed && !slot.hub) disconnect(slot);
  if (slot.hub) {
    // Notes under way arrive, unless the hub has crashed. Then members look for another hub.
    const Duration linger = state == State::kCrashed ? Duration(0) : slowest_ + Duration(1);
    at(now_ + linger, [this, pid] {
      for (Pid member = 0; member < slots_.size(); ++member) {
        if (slots_[member].connection.empty() || slots_[member].peer != pid) continue;
        disconnect(slots_[member]);
        connect(member);
      }
    });
  }
  if (ended) ended(pid);
}

void SimulatedNetwork::crash(Pid pid) {
  if (lives(pid)) end(pid, State::kCrashed);
}

void SimulatedNetwork::stop_until(Pid pid, Instant until) {
  slots_[pid].stopped_until = std::max(slots_[pid].stopped_until, until);
  at(until, [this, pid] {
    if (lives(pid)) serve(pid);
  });
}

void SimulatedNetwork::cut(Pid pid, Duration time) {
  disconnect(slots_[pid]);
  at(now_ + time, [this, pid] { connect(pid); });
}

bool SimulatedNetwork::run(Instant until) {
  while (!queue_.empty() && queue_.front().when <= until) {
    std::pop_heap(queue_.begin(), queue_.end(), std::greater<>());
    const Event event = std::move(queue_.back());
    queue_.pop_back();
    now_ = event.when;
    event.call();
  }
  return std::none_of(slots_.begin(), slots_.end(),
                      [](const Slot& slot) { return slot.state == State::kRunning; });
}

}  // namespace weir
