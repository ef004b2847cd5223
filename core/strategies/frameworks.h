// What training frameworks do without Weir: they fuse or cut tensors themselves, and run an all-reduce over
// each bucket (Options::collective).
#pragma once

#include "core/strategies/strategy.h"

namespace weir {

/// Rows of the table of strategies. CPU machines take no part in any of them. Cost of each bucket as of the
/// all-reduce that it runs over (flat_ring.h, ring.h, nccl.h).
Strategy ddp_strategy();
Strategy horovod_strategy();
Strategy byte_scheduler_strategy();

/// Frameworks call their collectives in the order in which gradients become ready, and what is called runs.
Options first_come(Options options);

}  // namespace weir
