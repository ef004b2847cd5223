#include "core/formats/chakra/chakra_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <queue>
#include <tuple>
#include <unordered_map>

namespace weir::chakra {
namespace {

// Describes nodes that wait for each other: walks up from a node that never became ready until a node
// repeats.
std::string circle(const std::vector<Node>& nodes, const Graph& graph,
                   const std::vector<std::size_t>& missing) {
  constexpr std::size_t kShown = 6;
  std::vector<char> seen(nodes.size(), 0);
  const auto stuck = [&](std::size_t at) { return missing[at] > 0; };
  std::size_t at = 0;
  while (!stuck(at)) ++at;
  const auto up = [&](std::size_t from) {
    return *std::find_if(graph.parents[from].begin(), graph.parents[from].end(), stuck);
  };
  for (; seen[at] == 0; at = up(at)) seen[at] = 1;
  std::string text = words(nodes[at]);
  std::size_t count = 1;
  for (std::size_t one = up(at); one != at; one = up(one), ++count) {
    if (count < kShown) text += ", which waits for " + words(nodes[one]);
  }
  if (count > kShown) text += fmt::format(", and so on through {} more", count - kShown);
  return text + ", which waits for the first";
}

}  // namespace

std::string words(const Node& node) {
  return node.name.empty() ? fmt::format("node {}", node.id)
                           : fmt::format("node {} ('{}')", node.id, node.name);
}

Result<Graph> graph_of(const std::vector<Node>& nodes, const std::string& file) {
  std::unordered_map<std::uint64_t, std::size_t> places;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto [at, fresh] = places.emplace(nodes[i].id, i);
    if (!fresh) {
      return failure(
          fmt::format("{}: {} and {} have the same id", file, words(nodes[at->second]), words(nodes[i])));
    }
  }
  Graph graph;
  graph.parents.resize(nodes.size());
  graph.lost.resize(nodes.size());
  std::vector<std::vector<std::size_t>> children(nodes.size());
  std::vector<std::size_t> missing(nodes.size(), 0);  // number of parents that are not in the order yet
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const std::uint64_t id : nodes[i].parents) {
      const auto parent = places.find(id);
      if (parent == places.end()) {
        ++graph.lost[i];
        continue;
      }
      graph.parents[i].push_back(parent->second);
      children[parent->second].push_back(i);
      ++missing[i];
    }
  }
  using Turn = std::tuple<std::uint64_t, bool, std::uint64_t, std::size_t>;
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> ready;
  std::vector<char> behind(nodes.size(), 0);  // whether it waits for a collective
  const auto add = [&](std::size_t i) { ready.emplace(nodes[i].start_us, behind[i] != 0, nodes[i].id, i); };
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (missing[i] == 0) add(i);
  }
  while (!ready.empty()) {
    const std::size_t at = std::get<3>(ready.top());
    ready.pop();
    graph.order.push_back(at);
    const bool waits = behind[at] != 0 || nodes[at].type == NodeType::kCollective;
    for (const std::size_t child : children[at]) {
      if (waits) behind[child] = 1;
      if (--missing[child] == 0) add(child);
    }
  }
  if (graph.order.size() < nodes.size()) {
    return failure(fmt::format("{}: nodes wait for each other: {}", file, circle(nodes, graph, missing)));
  }
  return graph;
}

}  // namespace weir::chakra
