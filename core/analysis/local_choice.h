// Which local stage each machine gets if the user leaves the choice to Weir.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/strategies/blocks/local_stage.h"

namespace weir {

/// Why other strategies than parameter servers on CPU machines refuse LocalStage::kApart.
constexpr const char* kApartRefused = "local 'apart' is for parameter servers on machines without GPUs";

struct LocalChoice {
  LocalStageOf stages;
  /// The choice for the machines of one class, and why.
  struct Reason {
    std::vector<MachineId> machines;
    LocalStage stage = LocalStage::kReduceScatter;
    std::string why;
  };
  std::vector<Reason> reasons;
};

/// The stage that the options name, on every machine with GPUs. For kAuto, each machine gets the stage that
/// BytePS's rules prefer (local_candidates), unless the optimal split with another stage is faster by more
/// than half a percent. Fails if a machine lacks what the stage needs.
Result<LocalChoice> choose_local(const Cluster& cluster, Dtype dtype, const Options& options);

/// For the all-reduces that Weir is compared with: there kAuto means kReduceScatter on every machine, as in
/// other libraries.
Result<LocalChoice> conventional_local(const Cluster& cluster, Dtype dtype, const Options& options);

}  // namespace weir
