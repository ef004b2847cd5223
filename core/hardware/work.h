// What each op of a plan asks of the cluster: which resource serves it, how much it loads which links, and
// how long it occupies a device. Bounds, simulated worlds and reports all use this.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <memory_resource>
#include <unordered_map>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/hardware/model.h"
#include "core/hardware/path_index.h"
#include "core/hardware/paths.h"
#include "core/hardware/resource.h"
#include "core/plan/plan.h"

namespace weir {

/// How often a sum passes over memory: it reads twice and writes once.
constexpr int kPassesOfSum = 3;

/// The type of the values that the op computes with. An optimizer's update always computes in f32.
constexpr Dtype computes_in(const Op& op) { return op.kind == OpKind::kUpdate ? Dtype::kF32 : op.dtype; }

/// What one op asks. First the op occupies its resource for `hold`, then its flow runs. Then the resource is
/// free, and the op completes after `latency`. A message's work is stored at its send; its receive asks for
/// nothing.
struct Work {
  static constexpr int kNoPath = -1;
  static constexpr int kOneFlow = -1;
  std::uint32_t resource = 0;  // index into WorkTable::resources()
  std::uint32_t channel = 0;   // messages: index of the pair of NICs; a channel moves its messages one by one
  int connections = 1;     // its bytes are spread over so many connections; links are shared per connection
  int path = kNoPath;      // index into WorkTable::paths(); none if no limited link is crossed
  int strands = kOneFlow;  // index of the paths of its flows, if several GPUs have separate flows
  Bytes size;              // bytes of its flow, or of each of its flows
  Duration hold;
  Duration latency;
};

/// The work of every op of a plan on a cluster. The plan and the cluster must outlive it.
///
/// A channel (a pair of NICs) has 1 to kMostConnections connections, in proportion to the bytes that the plan
/// sends over it. It spreads each message over them. Links are shared fairly between connections, so the
/// channels get about the rates at which all of them would finish together. Without this, a channel with much
/// to send would share its NIC evenly with channels that have little, and finish late and alone. (If the plan
/// is not paced, each channel has one connection.)
///
/// The same holds for the resources of a machine that serve reduce-scatters, all-gathers and copies. For
/// example, a reduce-scatter of four GPUs moves three bytes over a GPU's link for each byte that the GPU then
/// copies out. With even sharing, the copy would finish long before the next one can begin. The copy in of a
/// part follows its copy out, so the two directions of the link would take turns being idle.
class WorkTable {
 public:
  static constexpr int kMostConnections = 16;

  WorkTable(const Plan& plan, const Cluster& cluster, Collectives collectives = Collectives::kMacro);

  /// The work of a range of ops of another table, `whole`. The ops of `plan` are those of whole's plan from
  /// `first` on. `links` maps the links of whole's paths to the links here.
  WorkTable(const WorkTable& whole, const Plan& plan, OpId first, const std::vector<LinkId>& links);

  const Work& of(OpId op) const { return work_[op.index()]; }
  /// The paths of the op's flows. Together they load what the op's path says.
  std::span<const int> strands(const Work& work) const;
  /// Makes the processor prefetch it.
  void prefetch(OpId op) const { __builtin_prefetch(&work_[op.index()]); }
  const Paths& paths() const { return paths_; }
  const std::vector<Resource>& resources() const { return resources_; }
  std::size_t channels() const { return channels_; }
  Collectives collectives() const { return collectives_; }

  /// The shortest time in which the op can be done, alone in the cluster.
  Duration shortest(OpId op) const;
  /// How long a flow of this size takes alone.
  Duration flow_time(int path, Bytes size) const;

 private:
  struct Routed {
    int path = Work::kNoPath;
    int strands = Work::kOneFlow;
    Duration latency;
  };
  // Calls the function with each op. Meanwhile known_ belongs to the op's machine.
  template <class Function>
  void visit(const Function& function);
  void add(const Op& op);
  void add_message(const Op& send, Work& work);
  void connect();
  void widen(Work& work, int connections);
  int widened(int narrow, int connections);
  void route_sum(const Op& op, Work& work);
  void route_update(const Op& op, Work& work);
  // Work of the cores that reads from one NUMA node's memory and writes to `into`.
  void route_on_cores(const Op& op, int from, Work& work);
  void route_copy(const Op& op, Work& work);
  void route_collective(const Op& op, Work& work);
  void route_all_reduce(const Op& op, Work& work);
  // What a route depends on: kind of op, machine, root or peer, and for each end the NIC and the memory.
  using RouteKey = std::array<int, 7>;
  // A pair of NICs: machine and NIC, twice.
  using ChannelKey = std::array<int, 4>;
  Routed routed(const std::vector<Route>& routes);
  static void take(Work& work, const Routed& routed);
  int add_strands(const std::vector<Route>& routes);
  int path(PathView uses) { return known_->paths.of(uses, paths_); }
  template <class MakeRoutes>
  void route(const RouteKey& key, Work& work, const MakeRoutes& make);
  std::uint32_t resource(Resource resource);

  const Plan* plan_;
  const Cluster* cluster_;
  Collectives collectives_;
  std::vector<Work> work_;
  Paths paths_;
  std::vector<std::vector<int>> strands_;  // lists of paths
  std::vector<Resource> resources_;
  std::size_t channels_ = 0;
  // A hash of the numbers in a key.
  struct Hash {
    template <std::size_t kNumbers>
    std::size_t operator()(const std::array<int, kNumbers>& numbers) const {
      std::uint64_t hash = 0;
      for (const int number : numbers)
        hash = (hash ^ static_cast<std::uint32_t>(number)) * 0x9E3779B97F4A7C15U;
      return hash ^ hash >> 32;
    }
  };
  template <class Key, class Value>
  using Map = std::pmr::unordered_map<Key, Value, Hash>;
  // A channel, and the route of its first message, which most of its messages take.
  struct Channel {
    std::uint32_t number = 0;
    RouteKey key = {};
    Routed routed;
  };
  // What is known of one machine's ops while the table is made. Machines share no resources, channels or
  // routes, and so little data stays in the processor's caches. Its memory is freed all at once.
  struct Known {
    std::pmr::monotonic_buffer_resource room;
    std::pmr::map<Resource, std::uint32_t> resources{&room};
    Map<ChannelKey, Channel> channels{&room};
    Map<RouteKey, Routed> routes{&room};
    Map<std::array<int, 2>, int> widened{&room};  // by path and connections
    Map<std::array<int, 2>, int> widened_strands{&room};
    PathIndex paths;
  };
  std::unique_ptr<Known> known_;
};

/// The bytes that pass each link when the plan runs once.
std::vector<Bytes> link_loads(const Plan& plan, const Cluster& cluster, const WorkTable& works);

/// The rate at which the plan's messages and copies can use the link together: the link's rate; for a NIC,
/// times the plan's efficiency. Only messages and all-reduces use a NIC.
BytesPerSecond reached_rate(const Plan& plan, const Link& link);
/// reached_rate() of all links by id, in bytes per second, as engines take them. (No path contains an
/// unlimited link.)
std::vector<double> reached_rates(const Plan& plan, const Cluster& cluster);

}  // namespace weir
