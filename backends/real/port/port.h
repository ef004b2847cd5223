// One machine's door to the real world: messages through a transport, sums and copies by threads or GPUs,
// computation on GPUs or as time that passes.
#pragma once

#include <memory>
#include <queue>
#include <vector>

#include "backends/real/compute/engine.h"
#include "backends/real/process/clock.h"
#include "backends/real/process/inbox.h"
#include "backends/real/transport/transport.h"
#include "core/hardware/work.h"
#include "core/run/port.h"
#include "core/run/queue.h"

namespace weir::real {

struct PortSettings {
  Dispatch dispatch;
  int sums = 1;                   // that a NUMA node works on at once: as many threads as it has for them
  bool works_compute = false;     // compute ops are the workers' too, and take at least their duration
  Engine* gpus = nullptr;         // works on what GPUs are part of; else that is the workers' and time's
  Engine* application = nullptr;  // does what compute ops stand for, at its own time and any number at once:
                                  // hands over gradients, and takes their sums
};

/// Resources are those of the simulated world (WorkTable): each has a queue, so that the same policy and the
/// same window decide in both; but a few copies of GPUs are under way at once, to hide how they begin and
/// end. A sum waits for one that is under way into overlapping bytes. A compute op takes its duration; the
/// owner's thread sleeps meanwhile.
class RealPort final : public Port {
 public:
  /// All outlive the port.
  RealPort(const Plan& plan, const Cluster& cluster, const WorkTable& works, MachineId machine,
           const PortSettings& settings, const Clock& clock, Transport& transport, Engine& workers,
           Inbox& inbox);

  Instant now() const override { return now_; }
  void submit(const Op& op) override;
  void poll(std::vector<Completion>& out) override;

  /// Waits until poll() may bring something, at most so long. False if nothing came.
  bool wait(Duration longest);

  /// Bytes that messages have come forward by.
  std::int64_t moved() const { return inbox_->moved(); }

 private:
  struct State {  // of an op
    bool submitted = false;
    bool ready = false;       // a send: the receiver has room for this round
    std::uint64_t round = 0;  // of the next submission or the one under way
    Instant started;
  };
  struct Timer {
    Instant at;
    OpId op;
    bool operator>(const Timer& other) const { return at != other.at ? at > other.at : op > other.op; }
  };

  /// How much a resource works on at once.
  Bytes window(const Resource& resource) const;
  State& state(OpId op) { return states_[op.index() - first_]; }
  const Op& op_of(OpId op) const { return plan_->op(op); }
  void enqueue(const Op& op);
  void serve(std::uint32_t resource);
  void start(const Op& op);
  bool overlaps(const Op& sum) const;
  bool is_timed(const Op& op) const;
  bool is_the_applications(const Op& op) const;
  void done(const Op& op, Instant started, Instant at, const Error* error = nullptr);
  void ready(const Event& event);
  void lose(const Event& event);
  void complete(const Op& op, Instant started, Instant at, const Error* error);

  const Plan* plan_;
  const Cluster* cluster_;
  const WorkTable* works_;
  PortSettings settings_;
  Clock clock_;
  Transport* transport_;
  Engine* workers_;
  Inbox* inbox_;
  std::size_t first_;  // id of the machine's first op
  std::vector<State> states_;
  std::vector<Queue> queues_;    // by resource
  std::vector<const Op*> sums_;  // under way
  std::vector<const Op*> held_;  // started, and waiting for a sum into the same bytes
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
  std::vector<Event> events_;
  std::vector<Completion> completed_;
  std::vector<std::unique_ptr<Error>> lost_;  // by machine
  std::vector<std::unique_ptr<Error>> broken_;
  Instant now_;
};

}  // namespace weir::real
