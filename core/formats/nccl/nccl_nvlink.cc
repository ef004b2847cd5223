#include "core/formats/nccl/nccl_nvlink.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/units_text.h"
#include "core/formats/nccl/nccl_rates.h"

namespace weir::nccl {
namespace {

constexpr std::int64_t kMostLinks = 1000;
constexpr std::int64_t kMostC2c = 100'000'000;  // MB/s
// More do not exist, so the file is probably wrong. A GPU has 18 NVLinks, and 900 GB/s of C2C.
constexpr std::int64_t kUsualLinks = 72;
constexpr std::int64_t kUsualC2c = 4'000'000;  // MB/s

BytesPerSecond times(BytesPerSecond rate, std::int64_t count) { return BytesPerSecond(rate.value() * count); }

}  // namespace

BytesPerSecond NvlinkReader::add(const XmlElement& pci, const XmlElement* element) {
  Gpu gpu;
  gpu.id = plain_bus_id(text_of(pci, "busid"));
  gpu.line = pci.line;
  BytesPerSecond to_cpu(0);
  if (element == nullptr) {
    unknown_ = true;
  } else {
    const std::int64_t sm = number_of(*element, "sm", {0, 0, 10'000}, remarks_);
    const BytesPerSecond one = nccl::nvlink_rate(static_cast<int>(sm));
    bool links = false;
    for (const XmlElement& link : element->children) {
      if (link.name == "nvlink") {
        links = true;
        add_nvlink(link, one, gpu, to_cpu);
      } else if (link.name == "c2c") {
        const std::int64_t rate = number_of(link, "bw", {0, 0, kMostC2c}, remarks_) *
                                  number_of(link, "count", {1, 0, kMostLinks}, remarks_);
        if (rate > kUsualC2c) {
          remarks_.assumed(link.line,
                           fmt::format("<c2c bw> times count is {} MB/s: no such link is known; kept", rate));
        }
        to_cpu = to_cpu + BytesPerSecond(rate * 1'000'000);
      }
    }
    add_xgmi(*element, sm, gpu);
    if (links && sm == 0) {
      remarks_.assumed(
          element->line,
          fmt::format("<gpu> has no sm: its NVLinks are assumed to have {} each, as NCCL does", text(one)));
    }
  }
  add(std::move(gpu));
  return to_cpu;
}

std::int64_t NvlinkReader::count_of(const XmlElement& link) {
  const std::int64_t count = number_of(link, "count", {1, 0, kMostLinks}, remarks_);
  if (count > kUsualLinks) {
    remarks_.assumed(link.line, fmt::format("<{} count=\"{}\">: no GPU with so many links is known; kept",
                                            link.name, count));
  }
  return count;
}

// RCCL treats XGMI as NCCL treats NVLink.
void NvlinkReader::add_xgmi(const XmlElement& element, std::int64_t sm, Gpu& gpu) {
  const std::string_view gcn = text_of(element, "gcn");
  const auto one = nccl::xgmi_rate(gcn, static_cast<int>(sm));
  for (const XmlElement& link : element.children) {
    if (link.name != "xgmi") continue;
    kind_ = "XGMI";
    if (!one && user_values_.nvlink_rate) return;
    if (!one) {
      remarks_.assumed(
          element.line,
          fmt::format(
              "<gpu> is of a generation whose XGMI links have no known rate ({}): they are left out, so "
              "its GPU is joined to others over PCIe alone; --nvlink RATE joins all GPUs by a switch",
              gcn.empty() ? fmt::format("no gcn, and sm {}", sm) : fmt::format("gcn {}", gcn.substr(0, 20))));
      return;
    }
    const BytesPerSecond rate = times(*one, count_of(link));
    const std::string target = plain_bus_id(text_of(link, "target"));
    if (rate.value() > 0) gpu.peers.push_back({target, rate, link.line});
  }
}

void NvlinkReader::add_nvlink(const XmlElement& nvlink, BytesPerSecond one, Gpu& gpu,
                              BytesPerSecond& to_cpu) {
  const BytesPerSecond rate = times(one, count_of(nvlink));
  const std::string_view kind = text_of(nvlink, "tclass");
  const std::string target = plain_bus_id(text_of(nvlink, "target"));
  if (rate.value() == 0) return;
  if (kind.starts_with("0x068001")) {
    to_cpu = to_cpu + rate;
  } else if (kind.starts_with("0x0680")) {
    gpu.to_switch = gpu.to_switch + rate;
  } else if (kind.starts_with("0x03") || (kind.empty() && !target.empty())) {
    if (kind.empty()) remarks_.assumed(nvlink.line, "<nvlink> has no tclass: assumed to lead to a GPU");
    gpu.peers.push_back({target, rate, nvlink.line});
  } else {
    // NCCL treats unknown classes as switches.
    remarks_.assumed(nvlink.line, "<nvlink> has an unknown tclass: assumed to lead to an NVSwitch");
    gpu.to_switch = gpu.to_switch + rate;
  }
}

void NvlinkReader::finish(GroupSpec& group) {
  const bool switched =
      std::any_of(gpus_.begin(), gpus_.end(), [](const Gpu& gpu) { return gpu.to_switch.value() > 0; });
  const bool paired =
      std::any_of(gpus_.begin(), gpus_.end(), [](const Gpu& gpu) { return !gpu.peers.empty(); });
  if (user_values_.nvlink_rate && gpus_.size() > 1) {
    group.nvlink =
        NvlinkSpec{NvlinkSwitchSpec{{*user_values_.nvlink_rate, *user_values_.nvlink_rate}, {}}, {}};
  } else if (switched) {
    finish_switch(group);
  } else if (paired) {
    finish_pairs(group);
  } else if (unknown_ && gpus_.size() > 1) {
    remarks_.assumed(0,
                     "has GPUs without <gpu>, whose NVLinks are unknown: they are joined over PCIe only; "
                     "--nvlink RATE joins them by an NVSwitch");
  }
}

void NvlinkReader::finish_switch(GroupSpec& group) {
  BytesPerSecond least = BytesPerSecond::unlimited();
  for (const Gpu& gpu : gpus_) {
    if (!gpu.peers.empty()) {
      remarks_.assumed(gpu.peers.front().line,
                       "this GPU has links to GPUs and to an NVSwitch: only those to the NVSwitch are kept");
    }
    if (gpu.to_switch.value() == 0) {
      remarks_.assumed(gpu.line,
                       "this GPU has no link to the NVSwitch, but others have: assumed to have one too");
    } else {
      least = std::min(least, gpu.to_switch);
    }
  }
  for (const Gpu& gpu : gpus_) {
    if (gpu.to_switch <= least) continue;
    remarks_.assumed(
        gpu.line, fmt::format("this GPU has {} to the NVSwitch, others have less: all are assumed to have {}",
                              text(gpu.to_switch), text(least)));
  }
  group.nvlink = NvlinkSpec{NvlinkSwitchSpec{{least, least}, {}}, {}};
}

void NvlinkReader::finish_pairs(GroupSpec& group) {
  std::map<std::pair<std::size_t, std::size_t>, BytesPerSecond> rates;  // from, into
  std::map<std::pair<std::size_t, std::size_t>, int> lines;
  for (std::size_t from = 0; from < gpus_.size(); ++from) {
    for (const Link& link : gpus_[from].peers) {
      const auto into = static_cast<std::size_t>(
          std::find_if(gpus_.begin(), gpus_.end(), [&](const Gpu& gpu) { return gpu.id == link.target; }) -
          gpus_.begin());
      if (into == gpus_.size() || into == from) {
        remarks_.assumed(link.line,
                         fmt::format("this {} leads to no other GPU of the machine: left out", kind_));
        continue;
      }
      rates[{from, into}] = rates[{from, into}] + link.rate;
      lines[{from, into}] = link.line;
    }
  }
  NvlinkSpec nvlink;
  for (const auto& [ends, rate] : rates) {
    const auto [from, into] = ends;
    const auto back = rates.find({into, from});
    if (back != rates.end() && into < from) continue;  // written with the other direction
    if (back == rates.end()) {
      remarks_.assumed(
          lines[ends],
          fmt::format("only one of the two GPUs lists this {}: assumed equal in both directions", kind_));
    }
    NvlinkPairSpec pair;
    pair.between = {static_cast<int>(from), static_cast<int>(into)};
    pair.rate = {back == rates.end() ? rate : back->second, rate};
    nvlink.pairs.push_back(pair);
  }
  if (nvlink.pairs.empty()) return;
  const std::size_t all = gpus_.size() * (gpus_.size() - 1) / 2;
  if (nvlink.pairs.size() < all) {
    std::vector<BytesPerSecond> sums(gpus_.size());
    for (const auto& [ends, rate] : rates) sums[ends.first] = sums[ends.first] + rate;
    remarks_.assumed(
        0,
        fmt::format("joins {0} of {1} pairs of GPUs by {3}: the others communicate over PCIe, because GPUs "
                    "forward nothing; if NCCL's rings use only these links, --nvlink {2} (the sum over a "
                    "GPU's links) is closer",
                    nvlink.pairs.size(), all, text(*std::min_element(sums.begin(), sums.end())), kind_));
  }
  group.nvlink = nvlink;
}

}  // namespace weir::nccl
