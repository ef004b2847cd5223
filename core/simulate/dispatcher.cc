#include "core/simulate/dispatcher.h"

#include <utility>

namespace weir {

Dispatcher::Dispatcher(const Plan& plan, const WorkTable& works, const Dispatch& dispatch, const Model& model)
    : plan_(&plan), works_(&works), state_(plan.ops().size()) {
  for (const Op& op : plan.ops()) {
    State& state = state_[op.id.index()];
    state.charge = charge(op);
    switch (meets(op.kind)) {
      case Meets::kNobody:
        break;
      case Meets::kOtherEnd: {
        state.send = op.kind == OpKind::kSend;
        if (state.send) state.hold = model.overhead_of_message();
        const MessageEnds ends = plan.messages()[op.message.index()];
        state.other = state.send ? ends.receive : ends.send;
        break;
      }
      case Meets::kMachines:
        state.all_reduce = true;
        break;
    }
  }
  for (const Resource& resource : works.resources()) {
    const bool nic = resource.kind == Resource::Kind::kNic;
    queues_.emplace_back(dispatch.policy, nic ? dispatch.window : Bytes(0));
  }
  channels_.resize(works.channels());
  met_.resize(plan.all_reduces().size());
  offered_.resize(queues_.size());
}

void Dispatcher::submit(const Op& op, Duration hold) {
  State& state = state_[op.id.index()];
  WEIR_CHECK(state.phase == Phase::kIdle, op.id);
  if (state.all_reduce) return meet(op);
  if (!state.other.valid()) {
    state.hold = hold;
    return enqueue(op.id);
  }
  state.phase = Phase::kOffered;
  State& other = state_[state.other.index()];
  if (other.phase != Phase::kOffered) return;
  (state.send ? other : state).phase = Phase::kQueued;
  enqueue(state.send ? op.id : state.other);
}

void Dispatcher::meet(const Op& op) {
  state_[op.id.index()].phase = Phase::kOffered;
  const std::span<const OpId> all = plan_->all_reduce(op.all_reduce);
  std::uint32_t& met = met_[op.all_reduce.index()];
  if (++met < all.size()) return;
  met = 0;
  for (const OpId each : all) enqueue(each);
}

void Dispatcher::enqueue(OpId op) {
  State& state = state_[op.index()];
  state.phase = Phase::kQueued;
  const std::uint32_t resource = works_->of(op).resource;
  queues_[resource].push(op, plan_->op(op).priority, state.charge, now_);
  offer(resource);
}

void Dispatcher::offer(std::uint32_t resource) {
  if (offered_[resource]) return;
  offered_[resource] = true;
  (works_->resources()[resource].kind == Resource::Kind::kNic ? nics_ : devices_).push_back(resource);
}

bool Dispatcher::serve(std::vector<std::uint32_t>& resources) {
  bool started = false;
  for (const std::uint32_t resource : resources) {
    offered_[resource] = false;
    while (const std::optional<OpId> op = queues_[resource].pop()) {
      started = true;
      State& state = state_[op->index()];
      state.started = now_;
      if (state.send) {
        enter_channel(*op);
      } else {
        begin(*op);
      }
    }
  }
  resources.clear();
  return started;
}

void Dispatcher::enter_channel(OpId op) {
  Channel& channel = channels_[works_->of(op).channel];
  if (channel.busy) {
    state_[op.index()].phase = Phase::kChannel;
    (channel.first.valid() ? state_[channel.last.index()].next : channel.first) = op;
    channel.last = op;
    return;
  }
  channel.busy = true;
  begin(op);
}

void Dispatcher::begin(OpId op) {
  State& state = state_[op.index()];
  if (state.hold == Duration(0)) return flow(op);
  state.phase = Phase::kHold;
  actions_.push_back({Action::Kind::kTimer, op, state.hold});
}

void Dispatcher::flow(OpId op) {
  State& state = state_[op.index()];
  state.phase = Phase::kFlow;
  // If no link takes time, a timer of length zero keeps the stack flat, however many such ops follow.
  actions_.push_back({flows(op) ? Action::Kind::kFlow : Action::Kind::kTimer, op, {}});
}

void Dispatcher::advance(OpId op) {
  State& state = state_[op.index()];
  switch (state.phase) {
    case Phase::kHold:
      return flows(op) ? flow(op) : leave(op);
    case Phase::kFlow:
      return leave(op);
    case Phase::kLatency:
      return complete(op);
    default:
      WEIR_CHECK(false, op);
  }
}

// The bytes have moved: the device or the channel is free for the next op.
void Dispatcher::leave(OpId op) {
  State& state = state_[op.index()];
  if (state.send) {
    Channel& channel = channels_[works_->of(op).channel];
    channel.busy = channel.first.valid();
    if (channel.busy) {
      const OpId next = channel.first;
      channel.first = std::exchange(state_[next.index()].next, OpId());
      begin(next);
    }
  } else {
    free(op);
  }
  if (const Duration latency = works_->of(op).latency; latency > Duration(0)) {
    state.phase = Phase::kLatency;
    actions_.push_back({Action::Kind::kTimer, op, latency});
  } else {
    complete(op);
  }
}

void Dispatcher::complete(OpId op) {
  State& state = state_[op.index()];
  if (state.all_reduce) return complete_together(plan_->op(op));
  state.phase = Phase::kIdle;
  actions_.push_back({Action::Kind::kComplete, op, {}});
  if (!state.send) return;
  State& receive = state_[state.other.index()];
  receive.phase = Phase::kIdle;
  receive.started = state.started;
  free(op);
}

void Dispatcher::complete_together(const Op& op) {
  const std::span<const OpId> all = plan_->all_reduce(op.all_reduce);
  std::uint32_t& met = met_[op.all_reduce.index()];
  if (++met < all.size()) return;
  met = 0;
  for (const OpId each : all) {
    state_[each.index()].phase = Phase::kIdle;
    actions_.push_back({Action::Kind::kComplete, each, {}});
  }
}

void Dispatcher::free(OpId op) {
  const std::uint32_t resource = works_->of(op).resource;
  queues_[resource].release(state_[op.index()].charge);
  offer(resource);
}

}  // namespace weir
