// What each op of a plan asks of the cluster: which resource serves it, which links it loads how much, for
// how long it occupies a device. Bounds, simulated worlds and reports all read it here.
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

/// How often a sum passes memory: it reads twice and writes once.
constexpr int kPassesOfSum = 3;

/// What one op asks. First it occupies its resource for `hold`, then its flow runs; then the resource is
/// free, and the op completes after `latency`. A message's work stands at its send; its receive asks for
/// nothing.
struct Work {
  static constexpr int kNoPath = -1;
  static constexpr int kOneFlow = -1;
  std::uint32_t resource = 0;  // index into WorkTable::resources()
  std::uint32_t channel =
      0;                // messages: index of the pair of NICs; those of one channel move one after the other
  int connections = 1;  // that its bytes are spread over; shares of links are per connection
  int path = kNoPath;   // index into WorkTable::paths(); none if no limited link is crossed
  int strands = kOneFlow;  // index of the paths of its flows, if those of several GPUs are apart
  Bytes size;              // bytes of flow, or of each of its flows
  Duration hold;
  Duration latency;
};

/// The work of every op of a plan on a cluster. The plan and the cluster outlive it.
///
/// A channel (a pair of NICs) has 1 to kMostConnections connections, in proportion to the bytes that the plan
/// sends over it, and spreads each message over them. Links are shared fairly between connections, so that
/// channels get about the rates at which all of them would end together: else a channel with much to send,
/// sharing its NIC evenly with others that have little, would go on alone at the end. (One connection each if
/// the plan is not paced.) So have the resources
/// of a machine that serve reduce-scatters, all-gathers and copies: a reduce-scatter of four GPUs moves three
/// bytes over a GPU's link for each that the GPU then copies out. Sharing the link evenly with it, the copy
/// would be through long before the next one can begin, and as the copy in of a part follows its copy out,
/// one direction of the link would have nothing to do in turn with the other.
class WorkTable {
 public:
  static constexpr int kMostConnections = 16;

  WorkTable(const Plan& plan, const Cluster& cluster, Collectives collectives = Collectives::kMacro);

  /// That of some ops of the whole's plan which `plan` has again, from its first op on, and the whole from
  /// `first` on; over `links`, by link of the whole's paths.
  WorkTable(const WorkTable& whole, const Plan& plan, OpId first, const std::vector<LinkId>& links);

  const Work& of(OpId op) const { return work_[op.index()]; }
  /// The paths of the op's flows: together they load what its path says.
  std::span<const int> strands(const Work& work) const;
  /// Has the processor fetch it.
  void prefetch(OpId op) const { __builtin_prefetch(&work_[op.index()]); }
  const Paths& paths() const { return paths_; }
  const std::vector<Resource>& resources() const { return resources_; }
  std::size_t channels() const { return channels_; }
  Collectives collectives() const { return collectives_; }

  /// The shortest time in which the op can be done, alone in the cluster.
  Duration shortest(OpId op) const;
  /// How long a flow of so many bytes takes alone.
  Duration flow_time(int path, Bytes size) const;

 private:
  struct Routed {
    int path = Work::kNoPath;
    int strands = Work::kOneFlow;
    Duration latency;
  };
  // Calls it with each op; known_ is its machine's meanwhile.
  template <class Function>
  void visit(const Function& function);
  void add(const Op& op);
  void add_message(const Op& send, Work& work);
  void connect();
  void widen(Work& work, int connections);
  int widened(int narrow, int connections);
  void route_sum(const Op& op, Work& work);
  void route_copy(const Op& op, Work& work);
  void route_collective(const Op& op, Work& work);
  void route_all_reduce(const Op& op, Work& work);
  // What a route depends on: kind of op, machine, root or peer, and for each end the NIC and the place.
  using RouteKey = std::array<int, 7>;
  // Of a pair of NICs: machine and NIC, twice.
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
  std::vector<std::vector<int>> strands_;  // paths
  std::vector<Resource> resources_;
  std::size_t channels_ = 0;
  // Of numbers that tell the same keys apart.
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
  // A channel and the route of its first message, which most of its messages take.
  struct Channel {
    std::uint32_t number = 0;
    RouteKey key = {};
    Routed routed;
  };
  // While the table is made, of one machine's ops: their resources, channels and routes are no others', and
  // what is known of so few stays in the processor's caches. Its room is given back as a whole.
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

/// Bytes that pass each link when the plan runs once.
std::vector<Bytes> link_loads(const Plan& plan, const Cluster& cluster, const WorkTable& works);

/// How fast the plan's messages and copies together go over the link: its rate, but a NIC's times the plan's
/// efficiency. Nothing but messages and all-reduces uses a NIC.
BytesPerSecond reached_rate(const Plan& plan, const Link& link);
/// That of all links by id, in bytes per second, as engines take them. (Unlimited ones stand in no path.)
std::vector<double> reached_rates(const Plan& plan, const Cluster& cluster);

}  // namespace weir
