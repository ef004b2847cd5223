#include "backends/real/compute/gpu/nccl.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace weir::real {
namespace {

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));  // NOLINT: dlsym returns void*
  return function != nullptr;
}

Result<Nccl> loaded() {
  constexpr const char* kLibrary = "libnccl.so.2";
  void* const library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return failure(fmt::format("NCCL cannot be loaded: {}", ::dlerror()));
  Nccl nccl{};
  const bool all =
      find(library, "ncclCommInitAll", nccl.comm_init_all) &&
      find(library, "ncclCommInitRankConfig", nccl.comm_init_rank_config) &&
      find(library, "ncclCommGetAsyncError", nccl.comm_get_async_error) &&
      find(library, "ncclCommAbort", nccl.comm_abort) &&
      find(library, "ncclCommDestroy", nccl.comm_destroy) &&
      find(library, "ncclGroupStart", nccl.group_start) && find(library, "ncclGroupEnd", nccl.group_end) &&
      find(library, "ncclAllReduce", nccl.all_reduce) && find(library, "ncclReduce", nccl.reduce) &&
      find(library, "ncclBroadcast", nccl.broadcast) &&
      find(library, "ncclReduceScatter", nccl.reduce_scatter) &&
      find(library, "ncclAllGather", nccl.all_gather) &&
      find(library, "ncclGetErrorString", nccl.error_string) &&
      find(library, "ncclGetUniqueId", nccl.get_unique_id) &&
      find(library, "ncclGetVersion", nccl.get_version);
  if (!all) return failure(fmt::format("{} lacks functions of NCCL", kLibrary));
  return nccl;
}

}  // namespace

Result<const Nccl*> Nccl::load() {
  static const Result<Nccl> nccl = loaded();
  if (!nccl) return tl::unexpected(nccl.error());
  return &*nccl;
}

Result<void> Nccl::tried(ncclResult_t status, const char* what) const {
  if (status == ncclSuccess) return {};
  return failure(fmt::format("{}: NCCL says: {}", what, error_string(status)));
}

ncclDataType_t nccl_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF16:
      return ncclFloat16;
    case Dtype::kBf16:
      return ncclBfloat16;
    case Dtype::kF32:
      return ncclFloat32;
    case Dtype::kF64:
      return ncclFloat64;
    case Dtype::kI32:
      return ncclInt32;
    case Dtype::kI64:
      return ncclInt64;
  }
  return ncclFloat32;
}

}  // namespace weir::real
