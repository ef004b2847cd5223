// One machine of an NCCL topology as a group of a Weir topology: what NCCL reads from the file, with its
// rates.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/cluster/topology.h"
#include "core/formats/nccl/nccl_nics.h"
#include "core/formats/nccl/nccl_nvlink.h"
#include "core/formats/remarks.h"
#include "core/formats/xml.h"

namespace weir::nccl {

/// Reads one machine. Whatever is wrong or had to be assumed goes to the remarks.
class MachineReader {
 public:
  MachineReader(const Unsaid& unsaid, Remarks& remarks)
      : unsaid_(unsaid), remarks_(remarks), nics_(unsaid, remarks), nvlinks_(unsaid, remarks) {}

  /// The machine of these <cpu> elements, without a name.
  GroupSpec read(std::vector<const XmlElement*> cpus);

  /// The longest latency that a <net> told; zero if none did.
  Duration latency() const { return nics_.latency(); }

 private:
  /// Where in the tree of PCIe switches a <pci> stands.
  struct Place {
    std::string numa;
    std::string at;
    int broadcom = 0;  // the generation of the switch above if it is the upper half of one of Broadcom's
  };

  void add_sockets(const std::vector<const XmlElement*>& cpus);
  std::optional<BytesPerSecond> socket_rate(const XmlElement& cpu);
  void add_pci(const XmlElement& pci, const Place& place);
  void add_switch(const XmlElement& pci, const Place& place, BytesPerSecond rate);
  void add_gpu(const XmlElement& pci, const Place& place, BytesPerSecond rate);
  BytesPerSecond pcie_rate(const XmlElement& pci);

  const Unsaid& unsaid_;
  Remarks& remarks_;
  GroupSpec group_;
  NicReader nics_;
  NvlinkReader nvlinks_;
};

}  // namespace weir::nccl
