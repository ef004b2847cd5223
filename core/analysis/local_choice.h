// Which local stage each machine gets when the user leaves it to Weir.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/strategies/blocks/local_stage.h"

namespace weir {

struct LocalChoice {
  LocalStageOf stages;
  /// What was chosen for the machines of one class, and why.
  struct Reason {
    std::vector<MachineId> machines;
    LocalStage stage = LocalStage::kReduceScatter;
    std::string why;
  };
  std::vector<Reason> reasons;
};

/// The stage that the options name, on every machine with GPUs. If they name kAuto: on each the one that
/// BytePS's rules prefer (local_candidates), unless the optimal split with another is faster by more than
/// half a percent. Fails where a machine does not have what the stage needs.
Result<LocalChoice> choose_local(const Cluster& cluster, Dtype dtype, const Options& options);

/// For the all-reduces that Weir is compared with: kAuto is kReduceScatter on every machine, as other
/// libraries do it.
Result<LocalChoice> conventional_local(const Cluster& cluster, Dtype dtype, const Options& options);

}  // namespace weir
