#include "core/fluid/traffic.h"

namespace weir {

Traffic::Traffic(const Plan& plan, const WorkTable& works, const Dispatch& dispatch, const Model& model)
    : plan_(&plan), works_(&works), state_(plan.ops().size()) {
  for (const Op& op : plan.ops()) {
    State& state = state_[op.id.index()];
    const Work& work = works.of(op.id);
    state.flows = work.path != Work::kNoPath && work.size > Bytes(0);
    state.resource = work.resource;
    state.channel = op.kind == OpKind::kSend ? work.channel : kNoChannel;
    state.charge = charge(op);
    state.latency = work.latency;
    if (op.kind == OpKind::kSend) state.hold = model.overhead_of_message();
    if (!is_message(op.kind)) continue;
    const MessageEnds ends = plan.messages()[op.message.index()];
    state.other = op.kind == OpKind::kSend ? ends.receive : ends.send;
  }
  for (const Resource& resource : works.resources()) {
    const bool nic = resource.kind == Resource::Kind::kNic;
    queues_.emplace_back(dispatch.policy, nic ? dispatch.window : Bytes(0));
  }
  channels_.resize(works.channels());
  offered_.resize(queues_.size());
}

void Traffic::submit(const Op& op, double hold_factor) {
  State& state = state_[op.id.index()];
  WEIR_CHECK(state.phase == Phase::kIdle, op.id);
  if (!state.other.valid()) {
    const Duration hold = works_->of(op.id).hold;
    state.hold = hold_factor == 1.0 ? hold : Duration::from_seconds(hold.seconds() * hold_factor);
    return enqueue(op.id);
  }
  state.phase = Phase::kOffered;
  State& other = state_[state.other.index()];
  if (other.phase != Phase::kOffered) return;
  (is_send(state) ? other : state).phase = Phase::kQueued;
  enqueue(is_send(state) ? op.id : state.other);
}

void Traffic::enqueue(OpId op) {
  State& state = state_[op.index()];
  state.phase = Phase::kQueued;
  queues_[state.resource].push(op, plan_->op(op).priority, state.charge);
  offer(state.resource);
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
      State& state = state_[op->index()];
      state.started = now;
      if (is_send(state)) {
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
  State& state = state_[op.index()];
  Channel& channel = channels_[state.channel];
  if (channel.busy) {
    state.phase = Phase::kChannel;
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
  state.phase = Phase::kFlow;
  // Where nothing holds the bytes up, a timer of no length keeps the stack flat however many such ops follow.
  actions_.push_back({state.flows ? Action::Kind::kFlow : Action::Kind::kTimer, op, {}});
}

void Traffic::advance(OpId op) {
  State& state = state_[op.index()];
  switch (state.phase) {
    case Phase::kHold:
      return state.flows ? flow(op) : leave(op);
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
  State& state = state_[op.index()];
  if (is_send(state)) {
    Channel& channel = channels_[state.channel];
    channel.busy = false;
    if (!channel.waiting.empty()) {
      const OpId next = channel.waiting.front();
      channel.waiting.pop_front();
      channel.busy = true;
      begin(next);
    }
  } else {
    free(state);
  }
  if (state.latency > Duration(0)) {
    state.phase = Phase::kLatency;
    actions_.push_back({Action::Kind::kTimer, op, state.latency});
  } else {
    complete(op);
  }
}

void Traffic::complete(OpId op) {
  State& state = state_[op.index()];
  state.phase = Phase::kIdle;
  actions_.push_back({Action::Kind::kComplete, op, {}});
  if (!is_send(state)) return;
  State& receive = state_[state.other.index()];
  receive.phase = Phase::kIdle;
  receive.started = state.started;
  free(state);
}

void Traffic::free(const State& state) {
  queues_[state.resource].release(state.charge);
  offer(state.resource);
}

}  // namespace weir
