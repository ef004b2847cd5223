// Decides which submitted ops of a simulated cluster move: rendezvous of message ends, one queue per
// resource, one message at a time per channel. A pure state machine between the nodes' ports and the engine.
#pragma once

#include <algorithm>
#include <vector>

#include "core/hardware/model.h"
#include "core/hardware/work.h"
#include "core/run/queue.h"

namespace weir {

/// What the engine, or the port of a machine, must do next.
struct Action {
  enum class Kind : std::uint8_t { kTimer, kFlow, kComplete };
  Kind kind = Kind::kComplete;
  OpId op;
  Duration duration;  // of a timer
};

/// Life of an op: submitted; matched (messages and all-reduces only); started, when its resource's queue says
/// so; for a message its turn in the channel; hold; flow; its resource free; latency; complete. A message is
/// charged to the window of the NIC it leaves through from its start until it completes. Ops between two NICs
/// move one at a time, like the messages of one connection, in the order in which they started. The ops of an
/// all-reduce complete together, with the last of them.
class Dispatcher {
 public:
  /// All outlive the dispatcher.
  Dispatcher(const Plan& plan, const WorkTable& works, const Dispatch& dispatch, const Model& model);

  /// A node submits an op, which holds its resource so long before bytes flow; of messages the model says.
  void submit(const Op& op, Duration hold);
  /// The engine has ended the op's timer or flow.
  void advance(OpId op);
  /// Lets resources choose what they start next. To be called when nothing more can become ready at this
  /// instant, so that no choice is made before all candidates are there: first for devices, then, when what
  /// those did has been followed up, for NICs. True if anything started.
  bool serve_devices() { return serve(devices_); }
  bool serve_nics() { return serve(nics_); }
  /// Another instant begins. To be called ahead of all else there.
  void begin_instant(Instant now) { now_ = now; }
  /// Whether it has ever been a matter of the order of ids which op started first.
  bool tied() const {
    return std::ranges::any_of(queues_, [](const Queue& queue) { return queue.tied(); });
  }
  /// What to do now, in order; the caller empties it. Completions of sends stand for both ends.
  std::vector<Action>& actions() { return actions_; }

  /// Has the processor fetch what it will need to advance the op.
  void prefetch(OpId op) const { __builtin_prefetch(&state_[op.index()]); }
  /// When the op began to use its resource.
  Instant started(OpId op) const { return state_[op.index()].started; }
  /// A message op was submitted, and the other end not yet.
  bool unmatched(OpId op) const { return state_[op.index()].phase == Phase::kOffered; }

 private:
  enum class Phase : std::uint8_t { kIdle, kOffered, kQueued, kChannel, kHold, kFlow, kLatency };
  // Of an op. As small as it can be: there are millions.
  struct State {
    Phase phase = Phase::kIdle;
    bool send = false;
    bool all_reduce = false;
    OpId other;  // the other end of a message
    OpId next;   // that waits for the same channel
    Bytes charge;
    Duration hold;  // of this run
    Instant started;
  };
  struct Channel {
    bool busy = false;
    OpId first;  // that waits, and so on
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
  std::vector<std::uint32_t> met_;  // by all-reduce: ops that wait for the others, to begin or to complete
  std::vector<Action> actions_;
  Instant now_;
  // Resources that may be able to start something, in the order in which that came about.
  std::vector<std::uint32_t> devices_;
  std::vector<std::uint32_t> nics_;
  std::vector<bool> offered_;  // by resource: stands in one of the two lists
};

}  // namespace weir
