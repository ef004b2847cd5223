#include "backends/real/port/port.h"

#include <algorithm>

#include "backends/real/compute/host_work.h"

namespace weir::real {
RealPort::RealPort(const Plan& plan, const Cluster& cluster, const WorkTable& works, MachineId machine,
                   const PortSettings& settings, const Clock& clock, Transport& transport, Engine& workers,
                   Inbox& inbox)
    : plan_(&plan),
      cluster_(&cluster),
      works_(&works),
      settings_(settings),
      clock_(clock),
      transport_(&transport),
      workers_(&workers),
      inbox_(&inbox),
      first_(plan.ops(machine).empty() ? 0 : plan.ops(machine).front().id.index()),
      states_(plan.ops(machine).size()),
      lost_(plan.machines()) {
  for (const Resource& resource : works.resources())
    queues_.emplace_back(settings.dispatch.policy, window(resource));
}

Bytes RealPort::window(const Resource& resource) const {
  constexpr Bytes kCopies(4);  // one copy moves while others are being started or checked
  switch (resource.kind) {
    case Resource::Kind::kNic:
      return settings_.dispatch.window;
    case Resource::Kind::kHostSum:
      return Bytes(settings_.sums);
    case Resource::Kind::kCopyOut:
    case Resource::Kind::kCopyIn:
      return settings_.gpus != nullptr ? kCopies : Bytes(0);
    default:
      return Bytes(0);
  }
}

void RealPort::submit(const Op& op) {
  State& state = this->state(op.id);
  WEIR_CHECK(!state.submitted, op.id);
  state.submitted = true;
  if (is_message(op.kind) && lost_[op.peer.index()]) {
    return complete(op, now_, now_, lost_[op.peer.index()].get());
  }
  if (op.kind == OpKind::kReceive) return transport_->expect(op, state.round);
  if (is_the_applications(op)) {
    state.started = clock_.now();
    return settings_.application->put(op, state.round);
  }
  if (op.kind == OpKind::kSend && !state.ready) return;
  enqueue(op);
}

void RealPort::enqueue(const Op& op) {
  const std::uint32_t resource = works_->of(op.id).resource;
  queues_[resource].push(op.id, op.priority, charge(op), now_);
  serve(resource);
}

void RealPort::serve(std::uint32_t resource) {
  while (const std::optional<OpId> op = queues_[resource].pop()) start(op_of(*op));
}

// Whether the op does nothing but let time pass.
bool RealPort::is_timed(const Op& op) const {
  switch (family(op.kind)) {
    case OpFamily::kCompute:
      return !settings_.works_compute && settings_.gpus == nullptr;
    case OpFamily::kDelay:
      return true;
    case OpFamily::kMessage:
    case OpFamily::kMemory:
    case OpFamily::kCollective:
    case OpFamily::kControl:
      return false;
  }
  return false;
}

bool RealPort::is_the_applications(const Op& op) const {
  return is_compute(op.kind) && settings_.application != nullptr;
}

bool RealPort::overlaps(const Op& sum) const {
  return std::any_of(sums_.begin(), sums_.end(), [&](const Op* other) {
    return other->into.buffer == sum.into.buffer && other->into.offset < sum.into.end() &&
           sum.into.offset < other->into.end();
  });
}

void RealPort::start(const Op& op) {
  State& state = this->state(op.id);
  state.started = clock_.now();
  if (is_timed(op)) {
    timers_.push({state.started + op.duration, op.id});
    return;
  }
  if (op.kind == OpKind::kSend) return transport_->start(op, state.round);
  const bool computes = settings_.works_compute && is_compute(op.kind);
  if (settings_.gpus != nullptr && !computes && is_on_gpus(op, *plan_))
    return settings_.gpus->put(op, state.round);
  if (adds_into(op.kind)) {
    if (overlaps(op)) return held_.push_back(&op);
    sums_.push_back(&op);
  }
  workers_->put(op, state.round);
}

void RealPort::complete(const Op& op, Instant started, Instant at, const Error* error) {
  State& state = this->state(op.id);
  state.submitted = false;
  state.ready = false;
  ++state.round;
  completed_.push_back({op.id, started, at, error});
}

void RealPort::done(const Op& op, Instant started, Instant at, const Error* error) {
  if (!state(op.id).submitted) return;  // it has failed already, because its peer was lost
  complete(op, started, at, error);
  if (!asks(op.kind) || is_the_applications(op)) return;
  if (adds_into(op.kind)) {
    std::erase(sums_, &op);
    for (std::size_t i = 0; i < held_.size();) {
      const Op& next = *held_[i];
      if (overlaps(next)) {
        ++i;
        continue;
      }
      held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(i));
      state(next.id).started = clock_.now();
      sums_.push_back(&next);
      workers_->put(next, state(next.id).round);
    }
  }
  const std::uint32_t resource = works_->of(op.id).resource;
  queues_[resource].release(charge(op));
  serve(resource);
}

void RealPort::ready(const Event& event) {
  State& state = this->state(event.op);
  const Op& op = op_of(event.op);
  if (event.round != state.round || state.ready) {
    Event wrong;
    wrong.peer = op.peer;
    wrong.text = fmt::format("it offered room for round {} of message {} in round {}", event.round,
                             op.message, state.round);
    return lose(wrong);
  }
  state.ready = true;
  if (state.submitted) enqueue(op);
}

// Fails all messages with the peer, those under way and all later ones.
void RealPort::lose(const Event& event) {
  std::unique_ptr<Error>& error = lost_[event.peer.index()];
  if (error) return;
  error = std::make_unique<Error>(
      Error{fmt::format("machine {} is lost: {}", cluster_->machine(event.peer).name, event.text)});
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const Op& op = op_of(OpId(first_ + i));
    if (!states_[i].submitted || !is_message(op.kind) || op.peer != event.peer) continue;
    complete(op, now_, now_, error.get());
  }
}

void RealPort::poll(std::vector<Completion>& out) {
  events_.clear();
  inbox_->take(events_);
  now_ = clock_.now();
  for (const Event& event : events_) {
    switch (event.kind) {
      case Event::Kind::kReady:
        ready(event);
        break;
      case Event::Kind::kFailed:
        lose(event);
        break;
      case Event::Kind::kBroken: {
        const Op& op = op_of(event.op);
        broken_.push_back(
            std::make_unique<Error>(Error{fmt::format("op {} ({}) of machine {}: {}", op.id, name(op.kind),
                                                      cluster_->machine(op.machine).name, event.text)}));
        done(op, state(op.id).started, clock_.at(event.at), broken_.back().get());
        break;
      }
      case Event::Kind::kDone: {
        const Op& op = op_of(event.op);
        const Instant at = clock_.at(event.at);
        const bool send = op.kind == OpKind::kSend;
        if (is_compute(op.kind) && at < state(op.id).started + op.duration) {
          timers_.push({state(op.id).started + op.duration, op.id});
          break;
        }
        done(op, send ? state(op.id).started : clock_.at(event.started), at);
        break;
      }
    }
  }
  while (!timers_.empty() && timers_.top().at <= now_) {
    const Timer timer = timers_.top();
    timers_.pop();
    done(op_of(timer.op), state(timer.op).started, now_);
  }
  std::sort(completed_.begin(), completed_.end(), [](const Completion& a, const Completion& b) {
    return a.at != b.at ? a.at < b.at : a.op < b.op;
  });
  out.insert(out.end(), completed_.begin(), completed_.end());
  completed_.clear();
}

bool RealPort::wait(Duration longest) {
  if (!completed_.empty()) return true;
  if (timers_.empty()) return inbox_->wait(longest);
  const Duration until = timers_.top().at - clock_.now();
  return inbox_->wait(std::min(until, longest)) || until <= longest;
}

}  // namespace weir::real
