#include "backends/real/session/application.h"

#include <algorithm>
#include <cstring>

#include "backends/real/process/clock.h"

namespace weir::real {

Application::Application(const Plan& plan, MachineId self, std::vector<int> layers, Inbox& inbox,
                         std::function<void(const std::shared_ptr<Transfer>&)> done)
    : plan_(&plan), inbox_(&inbox), done_(std::move(done)), tensor_of_(layers.size()) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    tensors_.push_back(std::make_unique<Tensor>());
    tensor_of_[static_cast<std::size_t>(layers[i])] = i;
  }
  for (const Op& op : plan.ops(self)) {
    if (makes_gradients(op.kind)) of_layer(op).offset = op.into.offset;
  }
}

void Application::report_done(OpId op) {
  Event event;
  event.op = op;
  event.started = event.at = Clock::monotonic();
  inbox_->put(std::move(event));
}

// The caller holds the tensor's mutex.
void Application::begin(Tensor& tensor, OpId backward) {
  tensor.current = std::move(tensor.given.front());
  tensor.given.pop_front();
  tensor.waiting = OpId::none();
  report_done(backward);
}

void Application::give(std::size_t tensor, std::shared_ptr<Transfer> transfer) {
  Tensor& one = *tensors_[tensor];
  const std::lock_guard lock(one.mutex);
  one.given.push_back(std::move(transfer));
  if (one.waiting.valid()) begin(one, one.waiting);
}

void Application::withdraw(std::size_t tensor) {
  const std::lock_guard lock(tensors_[tensor]->memory);
  tensors_[tensor]->withdrawn = true;
}

void Application::put(const Op& op, std::uint64_t /*round*/) {
  Tensor& tensor = of_layer(op);
  std::unique_lock lock(tensor.mutex);
  if (makes_gradients(op.kind)) {
    tensor.waiting = op.id;
    if (!tensor.given.empty()) begin(tensor, op.id);
    return;
  }
  const std::shared_ptr<Transfer> ended = std::exchange(tensor.current, nullptr);
  lock.unlock();  // because done_ may wake a thread that gives the next transfer
  done_(ended);
  report_done(op.id);
}

bool Application::is_part_of(const Op& op) const {
  const auto is_gradient = [&](const Slice& slice) {
    return plan_->buffer(slice.buffer).role == Buffer::Role::kGradient;
  };
  switch (op.kind) {
    case OpKind::kCopy:
      return is_gradient(op.from) || is_gradient(op.into);
    case OpKind::kBackward:
    case OpKind::kForward:
    case OpKind::kSend:
    case OpKind::kReceive:
    case OpKind::kSum:
    case OpKind::kUpdate:
    case OpKind::kJoin:
    case OpKind::kWait:
    case OpKind::kHold:
    case OpKind::kReduceScatter:
    case OpKind::kAllGather:
    case OpKind::kReduce:
    case OpKind::kBroadcast:
    case OpKind::kAllReduce:
      return false;
  }
  return false;
}

Lent Application::lend(const Op& copy) {
  Tensor& tensor = of_layer(copy);
  Lent lent;
  lent.held = std::shared_lock(tensor.memory);
  if (tensor.withdrawn) return lent;
  const bool out = plan_->buffer(copy.from.buffer).role == Buffer::Role::kGradient;
  const Slice& slice = out ? copy.from : copy.into;
  const Bytes at = slice.offset - tensor.offset;
  const Transfer& transfer = *tensor.current;  // it changes only before or after the plan's copies
  if (at >= transfer.size) return lent;
  const Bytes size = std::min(slice.size, transfer.size - at);
  // What is only read stays unchanged.
  std::byte* const all = out ? const_cast<std::byte*>(transfer.in) : transfer.out;  // NOLINT
  lent.bytes = {all + at.count(), static_cast<std::size_t>(size.count())};
  if (transfer.written) lent.after = transfer.written->event();
  return lent;
}

void Application::copy(const Op& copy, std::span<std::byte> other) {
  const Lent lent = lend(copy);
  if (lent.bytes.empty()) return;
  const bool out = plan_->buffer(copy.from.buffer).role == Buffer::Role::kGradient;
  std::byte* const own = lent.bytes.data();
  std::memcpy(out ? other.data() : own, out ? own : other.data(), lent.bytes.size());
}

}  // namespace weir::real
