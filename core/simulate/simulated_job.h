// One training job in a simulated world: the nodes of its machines, their ports, and the dispatcher that
// decides which ops make progress. Jobs affect each other only through the network.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/cluster/subcluster.h"
#include "core/hardware/model.h"
#include "core/plan/plan.h"
#include "core/run/node.h"
#include "core/simulate/dispatcher.h"
#include "core/simulate/network.h"

namespace weir {

/// A training job on some machines of a cluster.
struct Job {
  const Plan& plan;  // for the subcluster
  const Subcluster& subcluster;
  Dispatch dispatch;
  Model model;
  Duration start;  // when its first iteration begins
  /// The plan's work on the subcluster, if the caller has it for the model's collectives. Otherwise the job
  /// makes its own.
  const WorkTable* works = nullptr;
  bool brings_works() const { return works != nullptr && works->collectives() == model.collectives; }
};

/// Sees each op as it completes, in order; for worlds that hold real data. A message is reported once, as its
/// send.
using Observer = std::function<void(const Op&)>;

/// The network knows the job's timers and flows by ids() ids from `first_id` on: one for each op, then those
/// of the flows of ops with several flows. One owner thread.
class SimulatedJob {
 public:
  /// Runs `iterations` iterations and keeps a record. Everything that the job refers to, the network and the
  /// observer outlive it.
  SimulatedJob(const Job& job, int iterations, std::uint32_t first_id, Network& network,
               const Observer& observer);
  /// Runs iterations until the simulation ends, without a record.
  SimulatedJob(const Job& job, std::uint32_t first_id, Network& network);
  SimulatedJob(const SimulatedJob&) = delete;
  SimulatedJob& operator=(const SimulatedJob&) = delete;
  ~SimulatedJob();

  /// The paths of its flows over the links of the whole cluster. In the network their numbers begin at
  /// `first_path`.
  Paths paths() const;
  void set_first_path(int first_path) { first_path_ = first_path; }

  std::uint32_t ids() const { return strand_ids_.empty() ? ops() : strand_ids_.back(); }

  Duration start() const { return job_.start; }
  /// Begins its first iteration.
  void begin();
  /// Prefetches all that advance() of the op with this id will read, so that the loads wait only once.
  void prefetch(std::uint32_t id) const;
  /// The same for an op that will end soon, except for what could be located only after waiting for another
  /// load.
  void prefetch_ahead(std::uint32_t id) const;
  /// The timer or flow with this id has ended.
  void advance(std::uint32_t id);
  /// Handles everything that happens at this instant: completions, the ops that nodes then submit, and ops
  /// that take no time. When nothing more can become ready, devices choose what to start, and last of all
  /// NICs.
  void pump();

  /// Whether all its iterations are done.
  bool finished() const;
  /// Whether it has begun and not finished, but nothing of it is under way.
  bool stuck() const { return begun_ && running_ == 0 && !finished(); }
  /// What a stuck job waits for, in words.
  std::string stuck_text() const;
  /// Whether the order of ids decided what started first (Dispatcher::tied()).
  bool tied() const { return dispatcher_.tied(); }
  /// When something of it last ended.
  Instant progress() const { return progress_; }
  /// Checks that its flows carried what its plan moves.
  Result<void> verdict() const;

  Record& record() { return record_; }
  /// When each iteration ended, that is when the last forward op of all its machines ended.
  const std::vector<Instant>& ends() const { return ends_; }

 private:
  class Door;
  SimulatedJob(const Job& job, int iterations, bool recorded, std::uint32_t first_id, Network& network,
               const Observer& observer);
  void submit(const Op& op);
  void settle();
  void act();
  void start_timer(const Op& op, Duration duration);
  void start_flow(const Op& op);
  void deliver(const Op& op);
  void count_forward(const Op& op);
  void expect(const Op& send);
  std::array<std::pair<OpId, MachineId>, 2> ends(OpId send) const;
  std::uint32_t ops() const { return static_cast<std::uint32_t>(plan_.ops().size()); }
  void number_strands();
  // The op's flow; the i-th one if it has several.
  Network::Flow flow(const Op& op, std::size_t i) const;
  void end_flow(const Op& op, std::size_t i);
  Bytes burden(const Op& op, Bytes size) const;
  void count_collectives();
  Duration hold(const Op& op);
  Duration taken(const Op& op) const;
  MachineId whole(MachineId machine) const { return job_.subcluster.machines[machine.index()]; }

  const Job job_;
  const Plan& plan_;
  const int iterations_;
  const std::uint32_t first_id_;
  int first_path_ = 0;
  Network& network_;
  const Observer& observer_;
  const std::unique_ptr<const WorkTable> own_works_;  // if the job brings none
  const WorkTable& works_;
  Dispatcher dispatcher_;
  Carried carried_;
  Record record_;
  std::vector<std::uint32_t> runs_;         // by compute op: how often it was submitted
  std::vector<Instant> ends_;               // by iteration
  std::vector<std::size_t> left_;           // by iteration: forwards that have not completed
  std::size_t forwards_ = 0;                // in an iteration
  std::vector<std::uint32_t> collectives_;  // by op: collectives that cost it time; may be empty
  std::vector<std::uint16_t> flowing_;      // by op: its flows under way
  // By op: the first id of its flows, and last the end. Empty if no op has several flows.
  std::vector<std::uint32_t> strand_ids_;
  std::size_t running_ = 0;        // timers and flows
  std::array<OpId, 4> expected_;   // the messages whose bytes arrived most recently
  std::size_t next_expected_ = 0;  // where the next one goes: the oldest's place
  bool begun_ = false;
  Instant progress_;
  std::vector<Node> nodes_;
  std::vector<std::unique_ptr<Door>> doors_;
  std::vector<std::size_t> awake_;    // nodes with something to do at this instant
  std::vector<OpId> ended_at_once_;   // ops whose timers had length zero
  std::vector<std::size_t> pumping_;  // buffer of settle() for awake_
  std::vector<OpId> advancing_;       // buffer of settle() for ended_at_once_
};

}  // namespace weir
