// Small plans written by hand. Every op has a name, so that a test can break one thing and check that the
// proof names it.
#pragma once

#include <array>

#include "core/cluster/topology.h"
#include "core/plan/proof.h"

namespace weir::examples {

/// An all-reduce of two machines with one GPU each. Each sends the other machine's half, sums its own half
/// and sends the sum back.
///
///     machine 0: gradient b0 [ own half | other's ]   scratch b2
///     machine 1: gradient b1 [ other's | own half ]   scratch b3
struct AllReduce {
  AllReduce();
  Plan plan() const { return PlanBuilder(builder).build(); }

  PlanBuilder builder{"by hand", 2};
  std::array<BufferId, 2> gradient;
  std::array<BufferId, 2> scratch;
  std::array<MessageId, 2> raw;  // the half that this machine receives
  std::array<MessageId, 2> sum;  // the sum that this machine sends
  std::array<OpId, 2> backward;
  std::array<OpId, 2> send_raw;
  std::array<OpId, 2> receive_raw;
  std::array<OpId, 2> add;
  std::array<OpId, 2> send_sum;
  std::array<OpId, 2> receive_sum;
  std::array<OpId, 2> forward;
};

/// Two machines with a GPU each (0 and 1), two layers, and a machine 2 that only sums. It receives machine
/// 0's gradients into its accumulator b2 and machine 1's into a scratch ring of one slot, b3. Arrays:
/// [machine][layer].
struct Server {
  static constexpr std::size_t kLayers = 2;
  template <class T>
  using Each = std::array<std::array<T, kLayers>, 2>;

  Server();
  Plan plan() const { return PlanBuilder(builder).build(); }

  PlanBuilder builder{"server by hand", 3};
  Each<MessageId> up;
  Each<MessageId> down;
  Each<OpId> backward;
  Each<OpId> push;  // on the machine with the GPU
  Each<OpId> pull;
  Each<OpId> forward;
  Each<OpId> receive;  // on the server
  std::array<OpId, kLayers> add;
  Each<OpId> send;
};

/// One machine of two GPUs reduces into shards and gathers them. In between, the shards go to a host buffer
/// and come back.
struct Local {
  Local();
  Plan plan() const { return PlanBuilder(builder).build(); }

  PlanBuilder builder{"local by hand", 1};
  BufferId gradient;
  BufferId staging;
  OpId backward;
  OpId scatter;
  OpId out;
  OpId in;
  OpId gather;
  OpId forward;
};

/// Two machines of two GPUs. Each reduces into shards; the machines exchange shards and add them; each
/// gathers.
struct Shards {
  Shards();
  Plan plan() const { return PlanBuilder(builder).build(); }

  PlanBuilder builder{"shards by hand", 2};
  std::array<BufferId, 2> gradient;
  std::array<BufferId, 2> scratch;
  std::array<OpId, 2> send;
  std::array<OpId, 2> receive;
  std::array<OpId, 2> add;
};

/// The cluster and the model that fit a plan: machines with the GPUs of its buffers and the NICs of its
/// messages, and layers with the sizes of its backward ops.
struct Setting {
  explicit Setting(const Plan& plan);
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

  Trace trace;
  Topology topology;
  Cluster cluster;
  Workload workload;
};

/// The proof of the plan in the setting that fits it.
Result<Proof> proof_of(const Plan& plan);

}  // namespace weir::examples
