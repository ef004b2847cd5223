#include "core/formats/nccl/nccl_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "core/base/units_text.h"
#include "core/formats/nccl/nccl_rates.h"

namespace weir::nccl {
namespace {

constexpr std::int64_t kMostLanes = 32;
// What Linux states if it does not know a width: all bits of a byte, or of the field of the register.
constexpr std::array<std::int64_t, 2> kUnknownLanes = {255, 63};
constexpr std::array<std::int64_t, 7> kLanes = {1, 2, 4, 8, 12, 16, 32};
constexpr std::int64_t kMostNumas = 1'000'000;
constexpr std::int64_t kMostModel = 100'000;
constexpr int kMuchSlower = 4;
constexpr std::size_t kMostCpus = 128;  // each pair is joined
constexpr std::size_t kMostSwitches = 1000;

const XmlElement* child(const XmlElement& element, std::string_view name) {
  const auto found = std::find_if(element.children.begin(), element.children.end(),
                                  [&](const XmlElement& one) { return one.name == name; });
  return found == element.children.end() ? nullptr : &*found;
}

/// The ids of the device, as the element has them.
PciTexts texts_of(const XmlElement& pci) {
  return {text_of(pci, "vendor"), text_of(pci, "device"), text_of(pci, "subsystem_vendor"),
          text_of(pci, "subsystem_device")};
}

}  // namespace

GroupSpec MachineReader::read(std::vector<const XmlElement*> cpus) {
  std::map<const XmlElement*, std::int64_t> ids;
  std::set<std::int64_t> seen;
  for (const XmlElement* cpu : cpus) {
    const std::int64_t id = number_of(*cpu, "numaid", {0, -1, kMostNumas}, remarks_);
    if (!seen.insert(id).second) {
      remarks_.wrong(cpu->line, fmt::format("a second <cpu> of this machine has numaid {}", id));
    }
    ids[cpu] = id;
  }
  std::sort(cpus.begin(), cpus.end(),
            [&](const XmlElement* a, const XmlElement* b) { return ids[a] < ids[b]; });
  group_.numa.clear();
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    NumaSpec numa;
    numa.memory_rate = user_values_.memory_rate.value_or(BytesPerSecond::unlimited());
    numa.sum_rate.other = user_values_.sum_rate.value_or(BytesPerSecond::unlimited());
    group_.numa.push_back(numa);
    const std::string name = fmt::format("numa{}", i);
    for (const XmlElement& one : cpus[i]->children) {
      if (one.name == "pci") add_pci(one, {name, name});
      if (one.name == "nic") nics_.add(one, &one, name, BytesPerSecond::unlimited());
    }
  }
  if (cpus.size() > kMostCpus || group_.switches.size() > kMostSwitches) {
    remarks_.wrong(cpus.front()->line, fmt::format("this machine has more than {} <cpu> or {} PCIe switches",
                                                   kMostCpus, kMostSwitches));
    return group_;
  }
  add_sockets(cpus);
  nvlinks_.finish(group_);
  nics_.finish(group_);
  return group_;
}

/// NCCL joins every two CPUs directly, whatever is between them.
void MachineReader::add_sockets(const std::vector<const XmlElement*>& cpus) {
  if (cpus.size() < 2) return;
  std::vector<BytesPerSecond> rates;
  for (const XmlElement* cpu : cpus) {
    const auto rate = socket_rate(*cpu);
    if (!rate) {
      remarks_.assumed(
          cpu->line,
          fmt::format("NCCL has no rate between sockets of arch '{}' vendor '{}': assumed unlimited",
                      text_of(*cpu, "arch"), text_of(*cpu, "vendor")));
    }
    rates.push_back(rate.value_or(BytesPerSecond::unlimited()));
  }
  for (std::size_t a = 0; a < cpus.size(); ++a) {
    for (std::size_t b = a + 1; b < cpus.size(); ++b) {
      group_.sockets.push_back({{static_cast<int>(a), static_cast<int>(b)}, {rates[b], rates[a]}, {}});
    }
  }
}

std::optional<BytesPerSecond> MachineReader::socket_rate(const XmlElement& cpu) {
  const auto family = number_of(cpu, "familyid", {0, -1, kMostModel}, remarks_);
  const auto model = number_of(cpu, "modelid", {0, -1, kMostModel}, remarks_);
  const std::string_view vendor = text_of(cpu, "vendor");
  const auto rate =
      nccl::socket_rate(text_of(cpu, "arch"), vendor, static_cast<int>(family), static_cast<int>(model));
  if (rate && vendor == "GenuineIntel" && text_of(cpu, "modelid").empty()) {
    remarks_.assumed(cpu.line,
                     fmt::format("<cpu> has no modelid: its link to other sockets is assumed to have {}, "
                                 "Intel's slowest, as NCCL does",
                                 text(*rate)));
  }
  return rate;
}

BytesPerSecond MachineReader::pcie_rate(const XmlElement& pci) {
  const std::string_view stated = text_of(pci, "link_width");
  const bool unknown =
      std::ranges::any_of(kUnknownLanes, [&](std::int64_t lanes) { return stated == std::to_string(lanes); });
  std::int64_t width = unknown ? 0 : number_of(pci, "link_width", {0, -1, kMostLanes}, remarks_);
  if (width <= 0) {
    width = kDefaultWidth;
    const std::string why =
        unknown ? fmt::format("is {}, which stands for unknown", stated) : "is missing or 0";
    remarks_.assumed(pci.line, fmt::format("link_width {}: assumed {}, as NCCL does", why, width));
  } else if (std::ranges::find(kLanes, width) == kLanes.end()) {
    remarks_.assumed(pci.line, fmt::format("link_width is {}: PCIe has no such width; kept", width));
  }
  const std::string_view speed = text_of(pci, "link_speed");
  if (const auto rate = nccl::pcie_rate(speed, static_cast<int>(width))) return *rate;
  remarks_.assumed(pci.line,
                   fmt::format("link_speed {}: assumed PCIe 3 ({}), as NCCL does",
                               speed.empty() ? "is missing or empty" : "is unknown to NCCL", kDefaultSpeed));
  return *nccl::pcie_rate(kDefaultSpeed, static_cast<int>(width));
}

void MachineReader::add_pci(const XmlElement& pci, const Place& place) {
  // As in NCCL, the children of an element matter more than its class.
  const std::string_view kind = text_of(pci, "class");
  const XmlElement* gpu = child(pci, "gpu");
  const XmlElement* nic = child(pci, "nic");
  // AMD's accelerators are GPUs of a class of their own.
  const bool accelerator = kind.starts_with("0x12") && text_of(pci, "vendor") == "0x1002";
  if (gpu != nullptr || (nic == nullptr && (kind.starts_with("0x03") || accelerator))) {
    add_gpu(pci, place, pcie_rate(pci));
  } else if (nic != nullptr || kind.starts_with("0x02")) {
    nics_.add(pci, nic, place.at, pcie_rate(pci));
  } else if (child(pci, "pci") != nullptr) {
    add_switch(pci, place, pcie_rate(pci));
  } else if (!kind.starts_with("0x06") && !kind.starts_with("0x0801")) {
    remarks_.assumed(pci.line, fmt::format("<pci class=\"{}\"> is not a switch, GPU or NIC: left out",
                                           kind.substr(0, 20)));
  }
}

void MachineReader::add_switch(const XmlElement& pci, const Place& place, BytesPerSecond rate) {
  const int lower = broadcom_generation(texts_of(pci), SwitchHalf::kLower);
  if (lower != 0 && lower == place.broadcom) {
    for (const XmlElement& one : pci.children) {
      if (one.name == "pci") add_pci(one, {place.numa, place.at});
    }
    return;
  }
  SwitchSpec spec;
  spec.name = fmt::format("p{}", group_.switches.size());
  spec.at = place.at;
  spec.rate = {rate, rate};
  group_.switches.push_back(spec);
  for (const XmlElement& one : pci.children) {
    if (one.name == "pcilink") {
      remarks_.assumed(one.line,
                       "a direct link between PCIe switches: left out, since topologies cannot describe it");
    }
    if (one.name == "pci")
      add_pci(one, {place.numa, spec.name, broadcom_generation(texts_of(pci), SwitchHalf::kUpper)});
  }
  for (const GpuSpec& gpu : group_.gpus) {
    if (gpu.at != spec.name || gpu.rate.out.value() / kMuchSlower < rate.value()) continue;
    remarks_.assumed(
        pci.line,
        fmt::format(
            "this switch has {} upwards, but GPUs with {} behind it: kept, as NCCL does, but bridges of "
            "virtual machines often report too low rates",
            text(rate), text(gpu.rate.out)));
    return;
  }
}

void MachineReader::add_gpu(const XmlElement& pci, const Place& place, BytesPerSecond rate) {
  const XmlElement* element = child(pci, "gpu");
  GpuSpec gpu;
  gpu.at = place.at;
  gpu.rate = {rate, rate};
  if (const BytesPerSecond to_cpu = nvlinks_.add(pci, element); to_cpu.value() > 0) {
    gpu.at = place.numa;
    gpu.rate = {to_cpu, to_cpu};
    remarks_.assumed(
        pci.line,
        fmt::format("this GPU is attached to its CPU by NVLink or C2C, {}: its PCIe link is left out",
                    text(to_cpu)));
  }
  append_alike(group_.gpus, gpu);
}

}  // namespace weir::nccl
