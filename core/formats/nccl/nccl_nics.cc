#include "core/formats/nccl/nccl_nics.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/base/units_text.h"
#include "core/formats/nccl/nccl_rates.h"

namespace weir::nccl {
namespace {

constexpr std::int64_t kMostMbps = 1'000'000'000;
constexpr double kLongestLatency = 1e9;  // microseconds
constexpr double kWorstLatency = 1e5;    // microseconds; networks between continents have less

}  // namespace

BytesPerSecond NicReader::default_rate(int line, const char* what) {
  if (user_values_.nic_rate) return *user_values_.nic_rate;
  const BytesPerSecond rate = network_rate(kDefaultMbps);
  remarks_.assumed(
      line, fmt::format("{}: assumed {}, as NCCL does; set the real rate with --nic-rate", what, text(rate)));
  return rate;
}

BytesPerSecond NicReader::absurd_rate(const XmlElement& net, std::int64_t mbps) {
  const BytesPerSecond rate = user_values_.nic_rate.value_or(network_rate(mbps));
  remarks_.assumed(
      net.line, fmt::format("<net speed> is {} Mbps, and no NIC is that fast: {}", mbps,
                            user_values_.nic_rate
                                ? fmt::format("{} from --nic-rate counts", text(rate))
                                : fmt::format("kept as {}, as NCCL does; set the real rate with --nic-rate",
                                              text(rate))));
  return rate;
}

void NicReader::add(const XmlElement& device, const XmlElement* nic, const std::string& at,
                    BytesPerSecond pcie) {
  std::string id = plain_bus_id(text_of(device, "busid"));
  if (!id.empty()) id.pop_back();
  Card card{id, at, pcie, {}};
  std::size_t nets = 0;
  if (nic != nullptr) {
    for (const XmlElement& net : nic->children) {
      if (net.name != "net") continue;
      ++nets;
      add_port(net, card);
    }
  }
  if (nets == 0) {
    card.ports.push_back(default_rate(device.line, "this NIC has no <net> with a speed"));
  }
  add(card);
}

void NicReader::add(const Card& card) {
  const auto same = std::find_if(cards_.begin(), cards_.end(),
                                 [&](const Card& other) { return other.device == card.device; });
  if (card.device.empty() || same == cards_.end()) {
    cards_.push_back(card);
  } else {
    same->ports.insert(same->ports.end(), card.ports.begin(), card.ports.end());
  }
}

void NicReader::add_port(const XmlElement& net, Card& card) {
  // A physical NIC that is fused into a virtual one, which the file lists too.
  if (text_of(net, "net") == "0") return;
  if (const std::string_view name = text_of(net, "name"); !name.empty()) {
    const std::string port = fmt::format("{} port {}", name, text_of(net, "port"));
    if (std::find(seen_.begin(), seen_.end(), port) != seen_.end()) {
      remarks_.assumed(net.line, fmt::format("the NIC {} is listed a second time: left out", name));
      return;
    }
    seen_.push_back(port);
  }
  const std::int64_t mbps = number_of(net, "speed", {0, -kMostMbps, kMostMbps}, remarks_);
  if (mbps > kFastestMbps) {
    card.ports.push_back(absurd_rate(net, mbps));
  } else {
    card.ports.push_back(mbps > 0 ? network_rate(mbps) : default_rate(net.line, "<net> has no speed"));
  }
  if (const std::string_view stated = text_of(net, "latency"); !stated.empty()) {
    double us = 0;
    const auto [end, error] = std::from_chars(stated.data(), stated.data() + stated.size(), us);
    if (error != std::errc() || end != stated.data() + stated.size() || !(us >= 0 && us <= kLongestLatency)) {
      remarks_.wrong(net.line, "<net latency>: expected microseconds, such as 1.5");
    } else {
      if (us > kWorstLatency) {
        remarks_.assumed(net.line,
                         fmt::format("<net latency> is {} microseconds: no network of a cluster has so "
                                     "much; set the real latency with --latency",
                                     stated));
      }
      latency_ = std::max(latency_, Duration(std::llround(us * 1000)));
    }
  }
}

void NicReader::finish(GroupSpec& group) {
  if (cards_.empty() && user_values_.nic_rate) {
    remarks_.assumed(0, "there is no NIC: added one with --nic-rate at numa0");
    cards_.push_back({"", "numa0", BytesPerSecond::unlimited(), {*user_values_.nic_rate}});
  }
  int shared = 0;
  for (const Card& card : cards_) {
    NicSpec nic;
    nic.at = card.at;
    if (card.ports.size() == 1) {
      nic.pcie = {card.pcie, card.pcie};
    } else if (card.pcie.limited() && !card.ports.empty()) {
      SwitchSpec spec;
      spec.name = fmt::format("card{}", shared++);
      spec.at = card.at;
      spec.rate = {card.pcie, card.pcie};
      nic.at = spec.name;
      group.switches.push_back(spec);
    }
    for (const BytesPerSecond rate : card.ports) {
      nic.rate = {rate, rate};
      append_alike(group.nics, nic);
    }
  }
}

}  // namespace weir::nccl
