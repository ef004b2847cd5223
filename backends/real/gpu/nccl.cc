#include "backends/real/gpu/nccl.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace weir::real {
namespace {

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));  // NOLINT: what dlsym gives
  return function != nullptr;
}

Result<Nccl> loaded() {
  constexpr const char* kLibrary = "libnccl.so.2";
  void* const library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return failure(fmt::format("NCCL cannot be loaded: {}", ::dlerror()));
  Nccl nccl{};
  const bool all =
      find(library, "ncclCommInitAll", nccl.comm_init_all) &&
      find(library, "ncclCommAbort", nccl.comm_abort) &&
      find(library, "ncclCommDestroy", nccl.comm_destroy) &&
      find(library, "ncclGroupStart", nccl.group_start) && find(library, "ncclGroupEnd", nccl.group_end) &&
      find(library, "ncclReduce", nccl.reduce) && find(library, "ncclBroadcast", nccl.broadcast) &&
      find(library, "ncclReduceScatter", nccl.reduce_scatter) &&
      find(library, "ncclAllGather", nccl.all_gather) &&
      find(library, "ncclGetErrorString", nccl.error_string) &&
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

}  // namespace weir::real
