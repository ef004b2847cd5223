#include "core/hardware/resource.h"

namespace weir {

std::string name(const Resource& resource, const Cluster& cluster) {
  const Machine& machine = cluster.machine(resource.machine);
  const auto index = static_cast<std::size_t>(resource.index);
  const bool shares = index >= machine.gpus.size();  // whether it serves copies of shares
  const std::size_t first = shares ? index - machine.gpus.size() : index;
  const std::string at = first > 0 ? fmt::format(" at {}", first) : std::string();
  switch (resource.kind) {
    case Resource::Kind::kCompute:
      return machine.name + " compute";
    case Resource::Kind::kCollectiveOut:
      return machine.name + " reduce" + at;
    case Resource::Kind::kCollectiveIn:
      return machine.name + " gather" + at;
    case Resource::Kind::kAllReduce:
      return machine.name + " all-reduce";
    case Resource::Kind::kCopyOut:
      return machine.name + (shares ? " copy shares out" : " copy out") + at;
    case Resource::Kind::kCopyIn:
      return machine.name + (shares ? " copy shares in" : " copy in") + at;
    case Resource::Kind::kCopyWithin:
      return fmt::format("{} copy from {}", machine.name,
                         resource.index < 0
                             ? machine.numas[static_cast<std::size_t>(-1 - resource.index)].name
                             : machine.gpus[index].name);
    case Resource::Kind::kHostSum:
      return fmt::format("{}.{} sum", machine.name, machine.numas[index].name);
    case Resource::Kind::kGpuSum:
      return fmt::format("{}.{} sum", machine.name, machine.gpus[index].name);
    case Resource::Kind::kScheduler:
      return machine.name + " scheduler";
    case Resource::Kind::kTimer:
      return machine.name + " timer";
    case Resource::Kind::kNic:
      return fmt::format("{}.{}", machine.name, machine.nics[index].name);
  }
  return {};
}

}  // namespace weir
