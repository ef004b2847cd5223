// What training frameworks do without Weir: they fuse or cut tensors themselves, and run an all-reduce over
// each bucket (Options::collective).
#pragma once

#include "core/strategies/strategy.h"

namespace weir {

/// Rows in the table of strategies. CPU machines take no part in any of them. Each bucket costs as much as
/// the all-reduce that it uses (flat_ring.h, ring.h, nccl.h).
Strategy ddp_strategy();
Strategy horovod_strategy();
Strategy byte_scheduler_strategy();

/// Options for first come, first served: frameworks call collectives in the order in which gradients become
/// ready, and a call takes effect at once.
Options first_come(Options options);

}  // namespace weir
