// The NICs of one machine, from an NCCL topology or found on a host. A card has one PCIe link and one or more
// ports.
#pragma once

#include <string>
#include <vector>

#include "core/cluster/topology.h"
#include "core/formats/nccl/nccl_attributes.h"

namespace weir::nccl {

class NicReader {
 public:
  struct Card {
    std::string device;  // its bus id without the function; empty if it is not on PCIe
    std::string at;
    BytesPerSecond pcie;
    std::vector<BytesPerSecond> ports;
  };

  NicReader(const UserValues& user_values, Remarks& remarks) : user_values_(user_values), remarks_(remarks) {}

  /// Adds a card at the PCIe place `at`, with a port for each <net> of its <nic>. If the <nic> is null or
  /// empty, as in files from clouds, the card has one port. Two functions of one device are one card.
  void add(const XmlElement& device, const XmlElement* nic, const std::string& at, BytesPerSecond pcie);
  /// Adds a card with known ports, or further ports to a card.
  void add(const Card& card);
  /// The rate of a port without a stated speed.
  BytesPerSecond default_rate(int line, const char* what);

  /// Writes the NICs. A card with several ports becomes a switch with one NIC for each port.
  void finish(GroupSpec& group);

  Duration latency() const { return latency_; }

 private:
  void add_port(const XmlElement& net, Card& card);
  BytesPerSecond absurd_rate(const XmlElement& net, std::int64_t mbps);

  const UserValues& user_values_;
  Remarks& remarks_;
  std::vector<Card> cards_;
  std::vector<std::string> seen_;  // ports, by name and number
  Duration latency_;
};

}  // namespace weir::nccl
