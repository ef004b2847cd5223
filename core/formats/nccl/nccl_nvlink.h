// The NVLinks of one machine, from an NCCL topology or found on a host. They lead to NVSwitches, to other
// GPUs, or to the CPU. XGMI, which joins AMD's GPUs, counts as NVLink.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/cluster/topology.h"
#include "core/formats/nccl/nccl_attributes.h"

namespace weir::nccl {

class NvlinkReader {
 public:
  /// An NVLink to a GPU of the machine.
  struct Link {
    std::string target;  // bus id, as plain_bus_id() writes it
    BytesPerSecond rate;
    int line = 0;
  };
  struct Gpu {
    std::string id;
    std::vector<Link> peers;
    BytesPerSecond to_switch;
    int line = 0;
  };

  NvlinkReader(const UserValues& user_values, Remarks& remarks)
      : user_values_(user_values), remarks_(remarks) {}

  /// Adds the machine's next GPU: its <pci>, and its <gpu> if it has one. Returns the rate of its links to
  /// the CPU (NVLink or C2C); zero if it has none.
  BytesPerSecond add(const XmlElement& pci, const XmlElement* element);
  /// Adds the machine's next GPU, whose links are known.
  void add(Gpu gpu) { gpus_.push_back(std::move(gpu)); }

  /// Writes the links between GPUs.
  void finish(GroupSpec& group);

 private:
  void add_nvlink(const XmlElement& nvlink, BytesPerSecond one, Gpu& gpu, BytesPerSecond& to_cpu);
  std::int64_t count_of(const XmlElement& link);
  void add_xgmi(const XmlElement& element, std::int64_t sm, Gpu& gpu);
  void finish_switch(GroupSpec& group);
  void finish_pairs(GroupSpec& group);

  const UserValues& user_values_;
  Remarks& remarks_;
  std::vector<Gpu> gpus_;
  bool unknown_ = false;              // some GPU has no <gpu>
  std::string_view kind_ = "NVLink";  // of the links between GPUs
};

}  // namespace weir::nccl
