// One machine's part of a job, from joining to goodbye.
#pragma once

#include <string>
#include <vector>

#include "backends/real/job/key.h"
#include "backends/real/wire/socket.h"
#include "core/base/ids.h"

namespace weir::real {

struct MemberSettings {
  MachineId machine;                  // which of the cluster this is
  std::vector<std::string> listen;    // the addresses at which peers find its NICs, or one for all
  std::vector<int> gpus;              // this host's devices that are the machine's; the first if empty
  std::string version;                // of the program
  Duration patience{30'000'000'000};  // for each step of the coordinator
};

/// Blocks until the job is over. Fails, having told the coordinator, with whatever ends it early.
Result<void> take_part(const JobKey& key, const MemberSettings& settings);

}  // namespace weir::real
