#include "tests/fuzz/random_order.h"

#include <memory>

#include "core/run/node.h"
#include "tests/toy/world.h"

namespace weir::fuzz {
namespace {

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
        offered_(plan.ops().size()) {
    for (std::size_t i = 0; i < plan.machines(); ++i) {
      nodes_.emplace_back(plan, MachineId(i), iterations, record_);
      ports_.push_back(std::make_unique<RandomPort>(*this));
    }
  }

  std::string run() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) nodes_[i].pump(*ports_[i]);
    while (!ready_.empty() && memories_.wrong().empty()) complete(take());
    if (!memories_.wrong().empty()) return memories_.wrong();
    for (const Node& node : nodes_) {
      if (!node.finished()) return "nothing can go on";
    }
    return {};
  }

  void submit(const Op& op) {
    if (!is_message(op.kind)) return ready_.push_back(op.id);
    const MessageEnds ends = plan_.messages()[op.message.index()];
    offered_[op.id.index()] = true;
    if (!offered_[ends.send.index()] || !offered_[ends.receive.index()]) return;
    offered_[ends.send.index()] = offered_[ends.receive.index()] = false;
    ready_.push_back(ends.send);
  }

 private:
  OpId take() {
    // Often the newest or the oldest, so that some ops race ahead and others lag far behind.
    const auto last = static_cast<std::int64_t>(ready_.size()) - 1;
    const std::int64_t dice = random_.between(0, 3);
    const auto chosen = static_cast<std::ptrdiff_t>(dice == 0   ? 0
                                                    : dice == 1 ? last
                                                                : random_.between(0, last));
    const OpId op = ready_[static_cast<std::size_t>(chosen)];
    ready_.erase(ready_.begin() + chosen);
    return op;
  }

  void complete(OpId id) {
    const Op& op = plan_.op(id);
    memories_.apply(op);
    deliver(op);
    if (op.kind == OpKind::kSend) deliver(plan_.op(plan_.messages()[op.message.index()].receive));
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
  std::vector<bool> offered_;  // by op: an end of a message that waits for the other
  std::vector<OpId> ready_;
  std::vector<Node> nodes_;
  std::vector<std::unique_ptr<RandomPort>> ports_;
};

void RandomPort::submit(const Op& op) { world_->submit(op); }

}  // namespace

std::string run_in_random_order(const Plan& plan, int iterations, Random random) {
  return World(plan, iterations, random).run();
}

}  // namespace weir::fuzz
