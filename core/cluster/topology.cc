#include "core/cluster/topology.h"

#include <algorithm>
#include <charconv>

namespace weir {

int numa_named(std::string_view text) {
  constexpr std::string_view kPrefix = "numa";
  if (!text.starts_with(kPrefix)) return -1;
  text.remove_prefix(kPrefix.size());
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : -1;
}

int numa_above(const GroupSpec& group, std::string_view at) {
  while (numa_named(at) < 0) {
    at = std::find_if(group.switches.begin(), group.switches.end(), [&](const SwitchSpec& spec) {
           return spec.name == at;
         })->at;
  }
  return numa_named(at);
}

int gpu_count(const GroupSpec& group) {
  int count = 0;
  for (const GpuSpec& gpu : group.gpus) count += gpu.count;
  return count;
}

int nic_count(const GroupSpec& group) {
  int count = 0;
  for (const NicSpec& nic : group.nics) count += nic.count;
  return count;
}

}  // namespace weir
