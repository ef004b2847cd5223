#include "core/fluid/traffic.h"

namespace weir {

Traffic::Traffic(const Plan& plan, const WorkTable& works, const Dispatch& dispatch, const Model& model)
    : plan_(&plan), works_(&works), message_overhead_(model.message_overhead), state_(plan.ops().size()) {
  for (const Resource& resource : works.resources()) {
    const bool nic = resource.kind == Resource::Kind::kNic;
    queues_.emplace_back(dispatch.policy, nic ? dispatch.window : Bytes(0));
  }
  channels_.resize(works.channels());
  offered_.resize(queues_.size());
}

// The window of a device is 0 bytes: any charge above that makes it serve one op at a time.
Bytes Traffic::charge(const Op& op) { return op.kind == OpKind::kSend ? op.from.size : Bytes(1); }

void Traffic::submit(const Op& op, double hold_factor) {
  State& state = state_[op.id.index()];
  WEIR_CHECK(state.phase == Phase::kIdle, op.id);
  if (!is_message(op.kind)) {
    const Duration hold = works_->of(op.id).hold;
    state.hold = hold_factor == 1.0 ? hold : Duration::from_seconds(hold.seconds() * hold_factor);
    return enqueue(op);
  }
  const MessageEnds ends = plan_->messages()[op.message.index()];
  const OpId other = op.kind == OpKind::kSend ? ends.receive : ends.send;
  state.phase = Phase::kOffered;
  if (state_[other.index()].phase != Phase::kOffered) return;
  state_[ends.receive.index()].phase = Phase::kQueued;
  state_[ends.send.index()].hold = message_overhead_;
  enqueue(plan_->op(ends.send));
}

void Traffic::enqueue(const Op& op) {
  state_[op.id.index()].phase = Phase::kQueued;
  const std::uint32_t resource = works_->of(op.id).resource;
  queues_[resource].push(op.id, op.priority, charge(op));
  offer(resource);
}

void Traffic::offer(std::uint32_t resource) {
  if (offered_[resource]) return;
  offered_[resource] = true;
  (works_->resources()[resource].kind == Resource::Kind::kNic ? nics_ : devices_).push_back(resource);
}

bool Traffic::serve(std::vector<std::uint32_t>& resources, Instant now) {
  bool started = false;
  for (const std::uint32_t resource : resources) {
    offered_[resource] = false;
    while (const std::optional<OpId> op = queues_[resource].pop()) {
      started = true;
      state_[op->index()].started = now;
      if (plan_->op(*op).kind == OpKind::kSend) {
        enter_channel(*op);
      } else {
        begin(*op);
      }
    }
  }
  resources.clear();
  return started;
}

void Traffic::enter_channel(OpId op) {
  Channel& channel = channels_[works_->of(op).channel];
  if (channel.busy) {
    state_[op.index()].phase = Phase::kChannel;
    channel.waiting.push_back(op);
    return;
  }
  channel.busy = true;
  begin(op);
}

void Traffic::begin(OpId op) {
  State& state = state_[op.index()];
  if (state.hold == Duration(0)) return flow(op);
  state.phase = Phase::kHold;
  actions_.push_back({Action::Kind::kTimer, op, state.hold});
}

void Traffic::flow(OpId op) {
  State& state = state_[op.index()];
  const Work& work = works_->of(op);
  state.phase = Phase::kFlow;
  if (work.path != Work::kNoPath && work.size > Bytes(0)) {
    actions_.push_back({Action::Kind::kFlow, op, {}});
  } else {
    // Nothing holds the bytes up. A timer of no length keeps the stack flat however many such ops follow.
    actions_.push_back({Action::Kind::kTimer, op, {}});
  }
}

void Traffic::advance(OpId op) {
  switch (state_[op.index()].phase) {
    case Phase::kHold:
      if (works_->of(op).path == Work::kNoPath) return leave(op);
      return flow(op);
    case Phase::kFlow:
      return leave(op);
    case Phase::kLatency:
      return complete(op);
    default:
      WEIR_CHECK(false, op);
  }
}

// The bytes are through: the device, or the channel, is free for the next.
void Traffic::leave(OpId op) {
  const Work& work = works_->of(op);
  if (plan_->op(op).kind == OpKind::kSend) {
    Channel& channel = channels_[work.channel];
    channel.busy = false;
    if (!channel.waiting.empty()) {
      const OpId next = channel.waiting.front();
      channel.waiting.pop_front();
      channel.busy = true;
      begin(next);
    }
  } else {
    queues_[work.resource].release(charge(plan_->op(op)));
    offer(work.resource);
  }
  if (work.latency > Duration(0)) {
    state_[op.index()].phase = Phase::kLatency;
    actions_.push_back({Action::Kind::kTimer, op, work.latency});
  } else {
    complete(op);
  }
}

void Traffic::complete(OpId op) {
  const Op& done = plan_->op(op);
  state_[op.index()].phase = Phase::kIdle;
  actions_.push_back({Action::Kind::kComplete, op, {}});
  if (done.kind != OpKind::kSend) return;
  const OpId receive = plan_->messages()[done.message.index()].receive;
  state_[receive.index()].phase = Phase::kIdle;
  state_[receive.index()].started = state_[op.index()].started;
  queues_[works_->of(op).resource].release(charge(done));
  offer(works_->of(op).resource);
}

}  // namespace weir
