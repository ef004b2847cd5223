// One machine's part of a job, from joining to goodbye.
#pragma once

#include <string>
#include <vector>

#include "backends/real/job/key.h"
#include "backends/real/wire/socket.h"
#include "core/base/ids.h"

namespace weir::real {

struct MemberSettings {
  MachineId machine;                  // which machine of the cluster this is
  std::vector<std::string> listen;    // addresses at which peers find its NICs, or one for all
  std::vector<int> gpus;              // devices of this host that the machine uses; the first ones if empty
  std::string version;                // of the program
  Duration patience{30'000'000'000};  // for each step of the coordinator
};

/// Blocks until the job is over. If something ends it early, tells the coordinator and fails.
Result<void> take_part(const JobKey& key, const MemberSettings& settings);

}  // namespace weir::real
