#include "tests/fuzz/random_order.h"

#include <algorithm>
#include <functional>
#include <memory>

#include "core/plan/print.h"
#include "core/run/node.h"
#include "tests/toy/world.h"

namespace weir::fuzz {
namespace {

constexpr float kUndefined = -1e6F;

class World;

class RandomPort final : public Port {
 public:
  explicit RandomPort(World& world) : world_(&world) {}
  Instant now() const override { return {}; }
  void submit(const Op& op) override;
  void poll(std::vector<Completion>& out) override {
    out.insert(out.end(), inbox.begin(), inbox.end());
    inbox.clear();
  }

  std::vector<Completion> inbox;

 private:
  World* world_;
};

class World {
 public:
  World(const Plan& plan, int iterations, Random random)
      : plan_(plan),
        random_(random),
        memories_(plan),
        record_(plan.ops().size(), iterations),
        offered_(plan.ops().size()),
        moving_(plan.messages().size()),
        brought_(plan.ops().size()) {
    for (std::size_t i = 0; i < plan.machines(); ++i) {
      nodes_.emplace_back(plan, MachineId(i), iterations, record_);
      ports_.push_back(std::make_unique<RandomPort>(*this));
    }
  }

  std::string run() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) nodes_[i].pump(*ports_[i]);
    while (!ready_.empty() && memories_.wrong().empty() && wrong_.empty()) complete(take());
    if (!memories_.wrong().empty()) return memories_.wrong();
    if (!wrong_.empty()) return wrong_;
    for (const Node& node : nodes_) {
      if (!node.finished()) return "no op can complete";
    }
    return {};
  }

  void submit(const Op& op) {
    switch (meets(op.kind)) {
      case Meets::kNobody:
        return ready_.push_back(op.id);
      case Meets::kOtherEnd:
        return offer(op);
      case Meets::kMachines:
        return meet(op);
    }
  }

 private:
  void offer(const Op& op) {
    const MessageEnds ends = plan_.messages()[op.message.index()];
    offered_[op.id.index()] = true;
    if (!offered_[ends.send.index()] || !offered_[ends.receive.index()]) return;
    offered_[ends.send.index()] = offered_[ends.receive.index()] = false;
    begin(plan_.op(ends.send), plan_.op(ends.receive));
  }

  OpId take() {
    // Often takes the newest or the oldest op, so that some ops are far ahead and others far behind.
    const auto last = static_cast<std::int64_t>(ready_.size()) - 1;
    const std::int64_t dice = random_.between(0, 3);
    const auto chosen = static_cast<std::ptrdiff_t>(dice == 0   ? 0
                                                    : dice == 1 ? last
                                                                : random_.between(0, last));
    const OpId op = ready_[static_cast<std::size_t>(chosen)];
    ready_.erase(ready_.begin() + chosen);
    return op;
  }

  void begin(const Op& send, const Op& receive) {
    std::vector<float>& bytes = moving_[send.message.index()];
    bytes = memories_.read(send.from, send.dtype);
    memories_.write(receive.into, receive.dtype, std::vector<float>(bytes.size(), kUndefined));
    ready_.push_back(send.id);
    ready_.push_back(receive.id);
  }

  // A machine's contribution is read when its op is ready. Nobody may change it until all ops of the
  // all-reduce are.
  void meet(const Op& op) {
    brought_[op.id.index()] = memories_.contribution(op);
    const std::span<const OpId> all = plan_.all_reduce(op.all_reduce);
    offered_[op.id.index()] = true;
    if (!std::ranges::all_of(all, [&](OpId member) { return offered_[member.index()]; })) return;
    std::vector<float> sum(brought_[op.id.index()].size());
    for (const OpId id : all) {
      const std::vector<float>& brought = brought_[id.index()];
      if (memories_.contribution(plan_.op(id)) != brought)
        wrong_ = "the source changed before " + words(plan_.op(id));
      std::ranges::transform(sum, brought, sum.begin(), std::plus());
    }
    for (const OpId id : all) {
      offered_[id.index()] = false;
      brought_[id.index()] = sum;
      memories_.spread(plan_.op(id), std::vector<float>(sum.size(), kUndefined));
      ready_.push_back(id);
    }
  }

  void complete(OpId id) {
    const Op& op = plan_.op(id);
    if (op.kind == OpKind::kSend) {
      if (memories_.read(op.from, op.dtype) != moving_[op.message.index()])
        wrong_ = "the source changed during " + words(op);
    } else if (op.kind == OpKind::kReceive) {
      memories_.write(op.into, op.dtype, moving_[op.message.index()]);
    } else if (op.kind == OpKind::kAllReduce) {
      memories_.spread(op, brought_[op.id.index()]);
    } else {
      memories_.apply(op);
    }
    deliver(op);
  }

  void deliver(const Op& op) {
    RandomPort& port = *ports_[op.machine.index()];
    port.inbox.push_back({op.id, {}, {}});
    nodes_[op.machine.index()].pump(port);
  }

  const Plan& plan_;
  Random random_;
  toy::Memories memories_;
  Record record_;
  std::vector<bool> offered_;  // by op: an op of a message or all-reduce that waits for the others
  std::vector<std::vector<float>> moving_;   // by message: the bytes in flight
  std::vector<std::vector<float>> brought_;  // by op: its contribution to an all-reduce, and then the sum
  std::vector<OpId> ready_;
  std::string wrong_;
  std::vector<Node> nodes_;
  std::vector<std::unique_ptr<RandomPort>> ports_;
};

void RandomPort::submit(const Op& op) { world_->submit(op); }

}  // namespace

std::string run_in_random_order(const Plan& plan, int iterations, Random random) {
  return World(plan, iterations, random).run();
}

}  // namespace weir::fuzz
