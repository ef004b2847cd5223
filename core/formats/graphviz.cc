#include "core/formats/graphviz.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/base/units_text.h"

namespace weir {
namespace {

std::string quoted(std::string_view text) {
  std::string all = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') all += '\\';
    all += c;
  }
  return all + '"';
}

// The label of an edge; empty if its rate is not limited.
std::string label(const Rates& rates) {
  if (!rates.in.limited() && !rates.out.limited()) return "";
  if (rates.in == rates.out) return rounded(rates.in);
  return fmt::format("in {}\\nout {}", rounded(rates.in), rounded(rates.out));
}

/// Writes one machine of a group. Names of nodes begin with the group's name.
class MachineWriter {
 public:
  explicit MachineWriter(const GroupSpec& group) : group_(group) {}

  std::string text(std::size_t number);
  std::string network_edges() const;

 private:
  std::string node(std::string_view name) const { return quoted(fmt::format("{}.{}", group_.name, name)); }
  void add(const std::string& name, const std::string& shown, const char* look) {
    text_ += fmt::format("    {} [label={}, {}];\n", node(name), quoted(shown), look);
  }
  void join(const std::string& above, const std::string& below, const std::string& rates,
            const char* look = "") {
    text_ += fmt::format("    {} -- {} [label=\"{}\"{}];\n", node(above), node(below), rates, look);
  }
  void add_numas();
  void add_gpus();
  void add_nics();

  const GroupSpec& group_;
  std::string text_;
};

void MachineWriter::add_numas() {
  for (std::size_t i = 0; i < group_.numa.size(); ++i) {
    const BytesPerSecond rate = group_.numa[i].memory_rate;
    const std::string name = fmt::format("numa{}", i);
    add(name, rate.limited() ? fmt::format("{}, memory {}", name, rounded(rate)) : name,
        "style=filled, fillcolor=\"#CFE3F1\"");
  }
  for (const SocketSpec& socket : group_.sockets) {
    join(fmt::format("numa{}", socket.between[0]), fmt::format("numa{}", socket.between[1]),
         label(socket.rate), ", constraint=false, style=bold");
  }
  for (const SwitchSpec& spec : group_.switches) {
    add(spec.name, spec.name, "style=\"rounded,filled\", fillcolor=\"#EEEEEE\"");
    std::string rates = label(spec.rate);
    if (spec.peer_rate.in.limited() || spec.peer_rate.out.limited()) {
      rates += fmt::format("{}peers {}", rates.empty() ? "" : "\\n", label(spec.peer_rate));
    }
    join(spec.at, spec.name, rates);
  }
}

void MachineWriter::add_gpus() {
  int number = 0;
  for (const GpuSpec& gpu : group_.gpus) {
    for (int i = 0; i < gpu.count; ++i, ++number) {
      const std::string name = fmt::format("gpu{}", number);
      add(name, name, "style=filled, fillcolor=\"#CDE8DF\"");
      join(gpu.at, name, label(gpu.rate));
    }
  }
  if (!group_.nvlink) return;
  const char* const look = ", color=\"#009E73\", constraint=false";
  if (group_.nvlink->crossbar) {
    add("nvswitch", "NVSwitch", "style=\"rounded,filled\", fillcolor=\"#009E73\", fontcolor=white");
    for (int i = 0; i < number; ++i) {
      join(fmt::format("gpu{}", i), "nvswitch", label(group_.nvlink->crossbar->rate), ", color=\"#009E73\"");
    }
  }
  for (const NvlinkPairSpec& pair : group_.nvlink->pairs) {
    join(fmt::format("gpu{}", pair.between[0]), fmt::format("gpu{}", pair.between[1]), label(pair.rate),
         look);
  }
}

void MachineWriter::add_nics() {
  int number = 0;
  for (const NicSpec& nic : group_.nics) {
    for (int i = 0; i < nic.count; ++i, ++number) {
      const std::string name = fmt::format("nic{}", number);
      add(name, name, "style=filled, fillcolor=\"#FBE7C2\"");
      join(nic.at, name, label(nic.pcie));
    }
  }
}

std::string MachineWriter::text(std::size_t number) {
  text_ = fmt::format("  subgraph cluster_{} {{\n    label={};\n", number,
                      quoted(fmt::format("{} x {}", group_.count, group_.name)));
  add_numas();
  add_gpus();
  add_nics();
  return text_ + "  }\n";
}

std::string MachineWriter::network_edges() const {
  std::string text;
  int number = 0;
  for (const NicSpec& nic : group_.nics) {
    for (int i = 0; i < nic.count; ++i, ++number) {
      text += fmt::format("  {} -- network [label=\"{}\"];\n", node(fmt::format("nic{}", number)),
                          label(nic.rate));
    }
  }
  return text;
}

std::string network_label(const NetworkSpec& network) {
  std::string text = "network";
  if (network.latency > Duration(0)) text += ", " + rounded(network.latency);
  if (!network.racks) return text;
  text += fmt::format("\\nracks of {}, ", network.racks->size);
  if (network.racks->oversubscription)
    return text + fmt::format("oversubscribed {} times", *network.racks->oversubscription);
  return text + fmt::format("uplinks {}", label(*network.racks->uplink));
}

}  // namespace

std::string topology_graphviz(const Topology& topology) {
  std::string text = fmt::format(
      "graph {} {{\n  ordering=out;\n  node [shape=box, fontname=\"Helvetica\"];\n"
      "  edge [fontname=\"Helvetica\", fontsize=9];\n",
      quoted(topology.name));
  std::string edges;
  std::size_t number = 0;
  for (const GroupSpec& group : topology.groups) {
    if (group.count == 0) continue;
    MachineWriter machine(group);
    text += machine.text(number++);
    edges += machine.network_edges();
  }
  if (!edges.empty()) {
    text +=
        fmt::format("  network [label=\"{}\", shape=ellipse];\n", network_label(topology.network)) + edges;
  }
  return text + "}\n";
}

}  // namespace weir
