// The functions of NCCL that Weir uses, loaded at first use. So one build runs both with and without NCCL.
// Internal to this folder.
#pragma once

#include <nccl.h>

#include "core/base/dtype.h"
#include "core/base/result.h"

namespace weir::real {

struct Nccl {
  decltype(&::ncclCommInitAll) comm_init_all;
  decltype(&::ncclCommInitRankConfig) comm_init_rank_config;
  decltype(&::ncclCommGetAsyncError) comm_get_async_error;
  decltype(&::ncclCommAbort) comm_abort;
  decltype(&::ncclCommDestroy) comm_destroy;
  decltype(&::ncclGroupStart) group_start;
  decltype(&::ncclGroupEnd) group_end;
  decltype(&::ncclAllReduce) all_reduce;
  decltype(&::ncclReduce) reduce;
  decltype(&::ncclBroadcast) broadcast;
  decltype(&::ncclReduceScatter) reduce_scatter;
  decltype(&::ncclAllGather) all_gather;
  decltype(&::ncclGetErrorString) error_string;
  decltype(&::ncclGetUniqueId) get_unique_id;
  decltype(&::ncclGetVersion) get_version;

  /// The result lives as long as the process. Fails if the system's loader does not find libnccl.so.2, or if
  /// one of these functions is missing. Any thread may call it.
  static Result<const Nccl*> load();

  /// Fails with what was tried and NCCL's own message.
  Result<void> tried(ncclResult_t status, const char* what) const;
};

ncclDataType_t nccl_type(Dtype dtype);

}  // namespace weir::real
