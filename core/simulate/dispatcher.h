// Decides which submitted ops of a simulated cluster make progress: it matches the two ends of messages,
// keeps one queue per resource, and moves one message at a time per channel. A pure state machine between the
// nodes' ports and the engine.
#pragma once

#include <algorithm>
#include <vector>

#include "core/hardware/model.h"
#include "core/hardware/work.h"
#include "core/run/queue.h"

namespace weir {

/// What the engine or a machine's port must do next.
struct Action {
  enum class Kind : std::uint8_t { kTimer, kFlow, kComplete };
  Kind kind = Kind::kComplete;
  OpId op;
  Duration duration;  // of a timer
};

/// The life of an op: submitted; matched (messages and all-reduces only); started by its resource's queue;
/// for a message, its turn in the channel; hold; flow; resource free; latency; complete.
/// A message counts against the window of the NIC that it leaves through, from its start until it completes.
/// Messages between two NICs move one at a time, as on one connection, in the order in which they started.
/// All ops of an all-reduce complete together, when the last of them does.
class Dispatcher {
 public:
  /// All arguments outlive the dispatcher.
  Dispatcher(const Plan& plan, const WorkTable& works, const Dispatch& dispatch, const Model& model);

  /// A node submits an op. The op occupies its resource for `hold` before bytes flow; for messages, the
  /// model's overhead applies instead.
  void submit(const Op& op, Duration hold);
  /// The engine ended the op's timer or flow.
  void advance(OpId op);
  /// Lets resources choose what to start next. Call these only when nothing more can become ready at this
  /// instant, so that all candidates are known: first for devices; then for NICs, once the consequences for
  /// devices are settled. Returns true if anything started.
  bool serve_devices() { return serve(devices_); }
  bool serve_nics() { return serve(nics_); }
  /// A new instant begins. Call this before anything else at that instant.
  void begin_instant(Instant now) { now_ = now; }
  /// Whether the order of ids ever decided which op started first.
  bool tied() const {
    return std::ranges::any_of(queues_, [](const Queue& queue) { return queue.tied(); });
  }
  /// What to do now, in order; the caller empties it. The completion of a send stands for both ends.
  std::vector<Action>& actions() { return actions_; }

  /// Prefetches what advance() of this op will read.
  void prefetch(OpId op) const { __builtin_prefetch(&state_[op.index()]); }
  /// When the op began to use its resource.
  Instant started(OpId op) const { return state_[op.index()].started; }
  /// Whether a message op was submitted but its other end was not yet.
  bool unmatched(OpId op) const { return state_[op.index()].phase == Phase::kOffered; }

 private:
  enum class Phase : std::uint8_t { kIdle, kOffered, kQueued, kChannel, kHold, kFlow, kLatency };
  // Of an op. Kept small, because there are millions.
  struct State {
    Phase phase = Phase::kIdle;
    bool send = false;
    bool all_reduce = false;
    OpId other;  // the other end of a message
    OpId next;   // the next op that waits for the same channel
    Bytes charge;
    Duration hold;  // of this run
    Instant started;
  };
  struct Channel {
    bool busy = false;
    OpId first;  // head of the list of waiting ops, linked by State::next
    OpId last;
  };

  void enqueue(OpId op);
  void offer(std::uint32_t resource);
  bool serve(std::vector<std::uint32_t>& resources);
  void enter_channel(OpId op);
  void begin(OpId op);
  void flow(OpId op);
  void leave(OpId op);
  void meet(const Op& op);
  void complete(OpId op);
  void complete_together(const Op& op);
  void free(OpId op);
  bool flows(OpId op) const {  // over links that take time
    const Work& work = works_->of(op);
    return work.path != Work::kNoPath && work.size > Bytes(0);
  }

  const Plan* plan_;
  const WorkTable* works_;
  std::vector<State> state_;
  std::vector<Queue> queues_;       // by resource
  std::vector<Channel> channels_;   // by channel
  std::vector<std::uint32_t> met_;  // by all-reduce: ops that wait to begin or complete together
  std::vector<Action> actions_;
  Instant now_;
  // Resources that may be able to start something, in the order in which they became so.
  std::vector<std::uint32_t> devices_;
  std::vector<std::uint32_t> nics_;
  std::vector<bool> offered_;  // by resource: whether it is in one of the two lists
};

}  // namespace weir
