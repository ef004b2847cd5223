// The NVLinks of one machine in an NCCL topology: to NVSwitches, between pairs of GPUs, or to the CPU.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/cluster/topology.h"
#include "core/formats/nccl_attributes.h"

namespace weir::nccl {

class NvlinkReader {
 public:
  NvlinkReader(const Unsaid& unsaid, Remarks& remarks) : unsaid_(unsaid), remarks_(remarks) {}

  /// The machine's next GPU: its <pci>, and its <gpu> if it has one. The rate of its links to the CPU (NVLink
  /// or C2C); zero if it has none.
  BytesPerSecond add(const XmlElement& pci, const XmlElement* element);

  /// Writes the links between GPUs.
  void finish(GroupSpec& group);

 private:
  struct Link {
    std::string target;  // bus id
    BytesPerSecond rate;
    int line = 0;
  };
  struct Gpu {
    std::string id;
    std::vector<Link> peers;
    BytesPerSecond to_switch;
    int line = 0;
  };

  void add_nvlink(const XmlElement& nvlink, BytesPerSecond one, Gpu& gpu, BytesPerSecond& to_cpu);
  void finish_switch(GroupSpec& group);
  void finish_pairs(GroupSpec& group);

  const Unsaid& unsaid_;
  Remarks& remarks_;
  std::vector<Gpu> gpus_;
  bool untold_ = false;  // some GPU has no <gpu>
};

}  // namespace weir::nccl
