// Turns one machine of an NCCL topology into a group of a Weir topology. It reads what NCCL reads from the
// file, and uses NCCL's rates.
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

/// Reads one machine. Errors and assumptions go to the remarks.
class MachineReader {
 public:
  MachineReader(const UserValues& user_values, Remarks& remarks)
      : user_values_(user_values),
        remarks_(remarks),
        nics_(user_values, remarks),
        nvlinks_(user_values, remarks) {}

  /// The machine of these <cpu> elements, without a name.
  GroupSpec read(std::vector<const XmlElement*> cpus);

  /// The longest latency of any <net>; zero if none has one.
  Duration latency() const { return nics_.latency(); }

 private:
  /// The place of a <pci> in the tree of PCIe switches.
  struct Place {
    std::string numa;
    std::string at;
    int broadcom = 0;  // the generation of the switch above, if that is the upper half of a Broadcom switch
  };

  void add_sockets(const std::vector<const XmlElement*>& cpus);
  std::optional<BytesPerSecond> socket_rate(const XmlElement& cpu);
  void add_pci(const XmlElement& pci, const Place& place);
  void add_switch(const XmlElement& pci, const Place& place, BytesPerSecond rate);
  void add_gpu(const XmlElement& pci, const Place& place, BytesPerSecond rate);
  BytesPerSecond pcie_rate(const XmlElement& pci);

  const UserValues& user_values_;
  Remarks& remarks_;
  GroupSpec group_;
  NicReader nics_;
  NvlinkReader nvlinks_;
};

}  // namespace weir::nccl
