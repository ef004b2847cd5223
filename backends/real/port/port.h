// One machine's port to the real world. A transport moves messages, threads or GPUs sum and copy, and
// computation runs on GPUs or just takes its time.
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
  int sums = 1;                   // how many run at once on a NUMA node: its number of threads for sums
  bool works_compute = false;     // workers do compute ops too, which take at least their duration
  Engine* gpus = nullptr;         // does ops of GPUs; if null, workers do, and compute ops just take time
  Engine* application = nullptr;  // does compute ops, any number at once, at its own pace: hands
                                  // over gradients and takes their sums
};

/// Resources are those of the simulated world (WorkTable). Each has a queue, so that both worlds decide by
/// the same policy and window. One difference: a GPU has a few copies under way at once, to hide their start
/// and end. A sum waits while another sum into overlapping bytes is under way. A compute op takes its
/// duration; the owner's thread sleeps meanwhile.
class RealPort final : public Port {
 public:
  /// All arguments outlive the port.
  RealPort(const Plan& plan, const Cluster& cluster, const WorkTable& works, MachineId machine,
           const PortSettings& settings, const Clock& clock, Transport& transport, Engine& workers,
           Inbox& inbox);

  Instant now() const override { return now_; }
  void submit(const Op& op) override;
  void poll(std::vector<Completion>& out) override;

  /// Waits at most `longest` until poll() may have something. False if nothing came.
  bool wait(Duration longest);

  /// How many bytes of messages have moved.
  std::int64_t moved() const { return inbox_->moved(); }

 private:
  struct State {  // of one op
    bool submitted = false;
    bool ready = false;       // for a send: the receiver has room for this round
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
  std::vector<const Op*> held_;  // started, but waiting for a sum into the same bytes
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
  std::vector<Event> events_;
  std::vector<Completion> completed_;
  std::vector<std::unique_ptr<Error>> lost_;  // by machine
  std::vector<std::unique_ptr<Error>> broken_;
  Instant now_;
};

}  // namespace weir::real
