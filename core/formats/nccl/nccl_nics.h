// The NICs of one machine, in an NCCL topology or found on a host: cards with one or more ports behind one
// PCIe link each.
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

  NicReader(const Unsaid& unsaid, Remarks& remarks) : unsaid_(unsaid), remarks_(remarks) {}

  /// A card on the PCIe place `at`. It has a port for each <net> of its <nic>, and one if that is null or
  /// empty: files that clouds provide have none. Two functions of one device are one card.
  void add(const XmlElement& device, const XmlElement* nic, const std::string& at, BytesPerSecond pcie);
  /// A card whose ports are known, or further ports of one.
  void add(const Card& card);
  /// Of a port that tells no speed.
  BytesPerSecond unsaid_rate(int line, const char* what);

  /// Writes the NICs. A card with several ports becomes a switch with a NIC for each.
  void finish(GroupSpec& group);

  Duration latency() const { return latency_; }

 private:
  void add_port(const XmlElement& net, Card& card);

  const Unsaid& unsaid_;
  Remarks& remarks_;
  std::vector<Card> cards_;
  std::vector<std::string> seen_;  // ports, by name and number
  Duration latency_;
};

}  // namespace weir::nccl
