#include "core/formats/chakra/chakra.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "core/base/units_text.h"
#include "core/formats/chakra/chakra_graph.h"

namespace weir {
namespace {

using chakra::CollectiveType;
using chakra::Graph;
using chakra::Node;
using chakra::NodeType;

constexpr Duration kLongestReplay{86'400'000'000'000};

bool sums(const Node& node) {
  return node.type == NodeType::kCollective &&
         (node.collective == CollectiveType::kAllReduce || node.collective == CollectiveType::kReduce ||
          node.collective == CollectiveType::kReduceScatter ||
          node.collective == CollectiveType::kReduceScatterBlock);
}

/// The iteration of a rank as one device runs it, op by op. Times count from its beginning.
struct Replay {
  struct Sum {
    const Node* node;
    Duration ready;  // when everything that it waits for is computed
  };
  std::vector<Sum> sums;            // in the order in which they become ready
  Duration turn;                    // when the backward pass begins
  bool turn_named = false;          // whether names of nodes show it
  Duration computed;                // in total
  std::map<std::string, int> left;  // kinds of nodes that are left out, and how many
  std::size_t lost = 0;             // references to parents that are not in the file
};

bool is_backward(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name.find("backward") != std::string::npos || name.find("bwd") != std::string::npos;
}

/// Whether the node takes time on the device. If there are nodes of both CPU and GPU, only those of the GPU
/// do.
bool counts(const Node& node, bool gpu) { return node.type == NodeType::kCompute && !(gpu && node.on_cpu); }

// Bytes are ready when everything that the collective waits for, directly or indirectly, is computed.
Result<Replay> replay_of(const std::vector<Node>& nodes, const Graph& graph, const std::string& file,
                         const std::optional<std::string>& group) {
  Replay replay;
  const bool gpu = std::any_of(nodes.begin(), nodes.end(), [](const Node& node) {
    return node.type == NodeType::kCompute && !node.on_cpu;
  });
  for (const std::size_t lost : graph.lost) replay.lost += lost;
  std::vector<Duration> done(nodes.size());
  for (const std::size_t at : graph.order) {
    const Node& node = nodes[at];
    for (const std::size_t parent : graph.parents[at]) done[at] = std::max(done[at], done[parent]);
    if (counts(node, gpu)) {
      if (!replay.turn_named && is_backward(node.name)) {
        replay.turn_named = true;
        replay.turn = replay.computed;
      }
      replay.computed += node.duration;
      if (replay.computed > kLongestReplay)
        return failure(fmt::format("{}: the nodes compute for more than a day", file));
      done[at] = replay.computed;
    } else if (node.type == NodeType::kCollective && !node.collective) {
      return failure(fmt::format("{}: {} is a collective without comm_type", file, words(node)));
    } else if (sums(node) && (!group || node.group == *group)) {
      // If all that it waits for is lost, its start tells what was computed before.
      const bool placed = graph.lost[at] > 0 && node.start_us > 0;
      if (graph.parents[at].empty() && !placed) {
        return failure(
            fmt::format("{}: {} sums gradients but waits for no node{}, so the trace does not show when its "
                        "bytes are ready",
                        file, words(node), graph.lost[at] > 0 ? " that is in the file" : ""));
      }
      if (graph.parents[at].empty()) done[at] = replay.computed;
      if (node.size.count() < 1) return failure(fmt::format("{}: {} has no comm_size", file, words(node)));
      replay.sums.push_back({&node, done[at]});
    } else if (node.type == NodeType::kCollective) {
      ++replay.left[std::string(name(*node.collective))];
    } else if (node.type == NodeType::kSend || node.type == NodeType::kReceive) {
      ++replay.left[node.type == NodeType::kSend ? "send" : "receive"];
    }
  }
  std::stable_sort(replay.sums.begin(), replay.sums.end(),
                   [](const Replay::Sum& a, const Replay::Sum& b) { return a.ready < b.ready; });
  return replay;
}

Result<void> check_groups(const std::vector<Node>& nodes, const std::string& file,
                          const std::optional<std::string>& group) {
  std::map<std::string, int> groups;
  for (const Node& node : nodes) {
    if (sums(node)) ++groups[node.group];
  }
  std::vector<std::string> all;
  for (const auto& [name, count] : groups) all.push_back(fmt::format("'{}' ({})", name, count));
  if (groups.empty()) {
    return failure(
        fmt::format("{}: no collective sums gradients (all-reduce, reduce or reduce-scatter)", file));
  }
  if (group && groups.count(*group) == 0) {
    return failure(fmt::format("{}: no collective of group '{}' sums gradients; the groups are {}", file,
                               *group, fmt::join(all, ", ")));
  }
  if (!group && groups.size() > 1) {
    return failure(fmt::format(
        "{}: collectives of several groups (pg_name) sum: {}; select the group of the gradients with --group",
        file, fmt::join(all, ", ")));
  }
  return {};
}

/// The content of a rank's file, kept as long as its replay points into it.
struct Rank {
  std::string file;
  std::vector<Node> nodes;
  Replay replay;
};

Result<Rank> rank_of(const std::string& file, const ChakraImport& what) {
  auto nodes = chakra::read_nodes(file);
  if (!nodes) return tl::unexpected(nodes.error());
  Rank rank{file, std::move(*nodes), {}};
  if (const auto one = check_groups(rank.nodes, file, what.group); !one) return tl::unexpected(one.error());
  const auto graph = chakra::graph_of(rank.nodes, file);
  if (!graph) return tl::unexpected(graph.error());
  auto replay = replay_of(rank.nodes, *graph, file, what.group);
  if (!replay) return tl::unexpected(replay.error());
  if (replay->computed == Duration(0)) {
    return failure(fmt::format(
        "{}: no node has a compute time (duration_micros); record or generate a trace with the times of an "
        "execution",
        file));
  }
  rank.replay = std::move(*replay);
  return rank;
}

Result<void> check_same(const Rank& a, const Rank& b) {
  const auto text = [](const Rank& rank, std::size_t at) {
    return at < rank.replay.sums.size() ? fmt::format("{} with {}", words(*rank.replay.sums[at].node),
                                                      rounded(rank.replay.sums[at].node->size))
                                        : std::string("none");
  };
  const std::size_t count = std::max(a.replay.sums.size(), b.replay.sums.size());
  for (std::size_t i = 0; i < count; ++i) {
    const bool there = i < a.replay.sums.size() && i < b.replay.sums.size();
    if (there && a.replay.sums[i].node->size == b.replay.sums[i].node->size) continue;
    return failure(fmt::format("{} and {} sum different bytes: in collective {} they have {} and {}", a.file,
                               b.file, i + 1, text(a, i), text(b, i)));
  }
  return {};
}

// If names do not show it, assume a third of the time. It is never after the first gradient.
Duration turn_of(const Replay& replay) {
  const Duration first = replay.sums.front().ready;
  return std::min(first, replay.turn_named ? replay.turn : replay.sums.back().ready / 3);
}

// Spreads the forward pass over layers in proportion to their backward times, since nothing else is known.
void spread_forward(Trace& trace, Duration forward) {
  Duration backward;
  for (const Layer& layer : trace.layers) backward += layer.backward;
  if (backward == Duration(0)) return spread_by_bytes(trace, forward);
  Wide before = 0;
  std::int64_t given = 0;
  for (Layer& layer : trace.layers) {
    before += layer.backward.ns();
    const auto upto = static_cast<std::int64_t>(before * forward.ns() / backward.ns());
    layer.forward = Duration(upto - given);
    given = upto;
  }
}

Result<Trace> layers_of(const Rank& rank, const ChakraImport& what) {
  Trace trace;
  const std::int64_t each = size(what.dtype).count();
  Duration before = turn_of(rank.replay);
  for (const Replay::Sum& sum : rank.replay.sums) {
    const std::int64_t bytes = sum.node->size.count();
    if (bytes % each != 0) {
      return failure(fmt::format(
          "{}: {} has {} bytes, which is not a whole number of {}; give the type of gradients with --dtype",
          rank.file, words(*sum.node), bytes, name(what.dtype)));
    }
    const std::string label = sum.node->name.empty() ? fmt::format("node {}", sum.node->id) : sum.node->name;
    trace.layers.push_back({label, {}, sum.ready - before, {{"gradient", bytes / each, what.dtype}}});
    before = sum.ready;
  }
  std::reverse(trace.layers.begin(), trace.layers.end());
  spread_forward(trace, turn_of(rank.replay));
  if (what.about.update) spread_by_bytes(trace, rank.replay.computed - before);
  return trace;
}

std::vector<std::string> remarks_of(const Rank& rank, bool update) {
  std::vector<std::string> remarks;
  const Replay& replay = rank.replay;
  if (!replay.turn_named) {
    remarks.push_back(fmt::format(
        "no node has 'backward' in its name: the first third of the computation, {}, is assumed to be "
        "the forward pass",
        rounded(turn_of(replay))));
  }
  if (replay.turn_named && replay.turn > replay.sums.front().ready) {
    remarks.push_back(
        "the first gradient is summed before any node with 'backward' in its name: everything before it is "
        "assumed to be the forward pass");
  }
  const Duration after = replay.computed - replay.sums.back().ready;
  if (after > Duration(0)) {
    remarks.push_back(
        fmt::format("{} after the last gradient {}", rounded(after),
                    update ? "are spread over the forward passes of layers by their bytes" : "are left out"));
  }
  if (replay.lost > 0) {
    remarks.push_back(fmt::format(
        "dependences on nodes that are not in the file are left out: {}; nodes may seem ready too early",
        replay.lost));
  }
  for (const auto& [name, count] : replay.left) remarks.push_back(fmt::format("{} {} left out", count, name));
  return remarks;
}

}  // namespace

Result<ImportedTrace> import_chakra(const ChakraImport& what) {
  std::optional<Rank> slowest;
  for (const std::string& file : what.files) {
    auto rank = rank_of(file, what);
    if (!rank) return tl::unexpected(rank.error());
    if (slowest) {
      if (const auto same = check_same(*slowest, *rank); !same) return tl::unexpected(same.error());
    }
    if (!slowest || rank->replay.computed > slowest->replay.computed) slowest.emplace(std::move(*rank));
  }
  auto trace = layers_of(*slowest, what);
  if (!trace) return tl::unexpected(trace.error());
  trace->source =
      fmt::format("a Chakra execution trace{}, in which {} are computed",
                  what.files.size() > 1 ? fmt::format(", the slowest of {} ranks", what.files.size()) : "",
                  rounded(slowest->replay.computed));
  if (what.about.update)
    WEIR_CHECK(compute_time(*trace) == slowest->replay.computed, compute_time(*trace).ns());
  return finished(std::move(*trace), what.about, slowest->file, remarks_of(*slowest, what.about.update));
}

}  // namespace weir
