// One training job in a simulated world: the nodes of its machines, their ports, and what decides which ops
// move. Other jobs meet it on the network alone.
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
  /// The plan's work on the subcluster, where the caller has it and with the model's collectives; else the
  /// job makes its own.
  const WorkTable* works = nullptr;
  bool brings_works() const { return works != nullptr && works->collectives() == model.collectives; }
};

/// Sees each op as it completes, in order; for worlds that hold real data. A message is reported once, as its
/// send.
using Observer = std::function<void(const Op&)>;

/// Its timers and flows, and no others, are known to the network by ids() ids from `first_id` on: one for
/// each op, then those of flows of which an op has several. One owner thread.
class SimulatedJob {
 public:
  /// Runs that many iterations, and keeps a record. What the job names, the network and the observer
  /// outlive it.
  SimulatedJob(const Job& job, int iterations, std::uint32_t first_id, Network& network,
               const Observer& observer);
  /// Runs iterations for as long as it is let.
  SimulatedJob(const Job& job, std::uint32_t first_id, Network& network);
  SimulatedJob(const SimulatedJob&) = delete;
  SimulatedJob& operator=(const SimulatedJob&) = delete;
  ~SimulatedJob();

  /// The paths of its flows over the links of the whole cluster; the network knows them from `first_path` on.
  Paths paths() const;
  void set_first_path(int first_path) { first_path_ = first_path; }

  std::uint32_t ids() const { return strand_ids_.empty() ? ops() : strand_ids_.back(); }

  Duration start() const { return job_.start; }
  /// Its first iteration begins.
  void begin();
  /// Has the processor fetch what it will need to advance the op with this id: one wait for all of it.
  void prefetch(std::uint32_t id) const;
  /// The same for one that will end soon, but for what it would have to wait for to know where that is.
  void foresee(std::uint32_t id) const;
  /// The timer or flow with this id has ended.
  void advance(std::uint32_t id);
  /// Follows up everything that happens at this instant: what completes, what nodes submit then, what takes
  /// no time at all; devices, and last of all NICs, choose what to start when nothing more can become ready.
  void pump();

  /// All its iterations are done.
  bool finished() const;
  /// It has begun, has not finished, and nothing of it is under way.
  bool stuck() const { return begun_ && under_way_ == 0 && !finished(); }
  /// What it waits for then, in words.
  std::string stuck_text() const;
  /// Whether it was a matter of ids what started first (Dispatcher::tied()).
  bool tied() const { return dispatcher_.tied(); }
  /// When something of it ended last.
  Instant progress() const { return progress_; }
  /// Whether its flows carried what its plan moves.
  Result<void> verdict() const;

  Record& record() { return record_; }
  /// When each iteration ended: the last forward of all its machines.
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
  // The op's flow, the i-th if it has several.
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
  std::vector<std::uint32_t> runs_;  // by op: how often it was submitted, of those that compute
  std::vector<Instant> ends_;        // by iteration
  std::vector<std::size_t> left_;    // by iteration: forwards that have not completed
  std::size_t forwards_ = 0;         // in an iteration
  std::vector<std::uint32_t>
      collectives_;                     // by op: those that take from it, if the model has them take anything
  std::vector<std::uint16_t> flowing_;  // by op: its flows under way
  std::vector<std::uint32_t> strand_ids_;  // by op: of its flows the first id, if any op has several; the end
  std::size_t under_way_ = 0;              // timers and flows
  std::array<OpId, 4> expected_;           // the messages whose bytes were through last
  std::size_t next_expected_ = 0;          // the place of the next one: the oldest's
  bool begun_ = false;
  Instant progress_;
  std::vector<Node> nodes_;
  std::vector<std::unique_ptr<Door>> doors_;
  std::vector<std::size_t> awake_;    // nodes with something to do at this instant
  std::vector<OpId> ended_at_once_;   // ops whose timers had no length
  std::vector<std::size_t> pumping_;  // what settle() takes from awake_, and
  std::vector<OpId> advancing_;       // from ended_at_once_
};

}  // namespace weir
