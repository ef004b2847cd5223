#include "backends/real/discovery/host_reader.h"

#include "backends/real/discovery/machine_tree.h"
#include "backends/real/discovery/nvml.h"

namespace weir::real {

Result<HostParts> read_host() {
  auto parts = read_machine();
  if (parts) add_gpus(read_nvml(), *parts);
  return parts;
}

}  // namespace weir::real
