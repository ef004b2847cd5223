#include "backends/real/gpu/clique.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "backends/real/clock.h"
#include "backends/real/gpu/cuda.h"
#include "backends/real/gpu/nccl.h"
#include "core/base/hexadecimal.h"
#include "core/base/units_text.h"

namespace weir::real {
namespace {

// While one is started: connections that it needs besides those of the first are made then.
constexpr Duration kStarting{30'000'000'000};
constexpr auto kSlice = std::chrono::microseconds(200);

// The name of this host's network interface that has the address, IPv4 or IPv6; empty if none has.
std::string interface_of(const std::string& address) {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return {};
  std::string found;
  for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr) continue;
    char text[INET6_ADDRSTRLEN] = "";
    if (each->ifa_addr->sa_family == AF_INET) {
      sockaddr_in four;
      std::memcpy(&four, each->ifa_addr, sizeof four);
      ::inet_ntop(AF_INET, &four.sin_addr, text, sizeof text);
    } else if (each->ifa_addr->sa_family == AF_INET6) {
      sockaddr_in6 six;
      std::memcpy(&six, each->ifa_addr, sizeof six);
      ::inet_ntop(AF_INET6, &six.sin6_addr, text, sizeof text);
    }
    if (address == text) found = each->ifa_name;
  }
  ::freeifaddrs(all);
  return found;
}

void set_unless_set(const char* name, const std::string& value) { ::setenv(name, value.c_str(), 0); }

}  // namespace

void introduce_to_nccl(MachineId machine, const std::vector<std::string>& addresses) {
  set_unless_set("NCCL_HOSTID", fmt::format("weir-{}", machine));
  std::string interfaces;
  for (const std::string& address : addresses) {
    const std::string name = interface_of(address);
    if (name.empty()) return;  // a host's name: NCCL chooses
    interfaces += (interfaces.empty() ? "=" : ",") + name;
  }
  set_unless_set("NCCL_SOCKET_IFNAME", interfaces);
}

struct Clique::Parts {
  const Nccl& nccl;
  const Gpus& gpus;
  std::vector<ncclComm_t> members;  // by GPU

  ~Parts() { abandon(); }

  void abandon() {
    for (const ncclComm_t member : members) {
      if (member != nullptr) (void)nccl.comm_abort(member);
    }
    members.clear();
  }

  // Calls begin(i) for each GPU, as one operation of NCCL's, and waits until that is under way.
  template <class Begin>
  Result<void> together(const char* what, Duration patience, const std::function<Result<void>()>& watch,
                        const Begin& begin) {
    auto well = nccl.tried(nccl.group_start(), what);
    for (std::size_t i = 0; i < members.size() && well; ++i) {
      well = tried(cudaSetDevice(gpus.device(static_cast<int>(i))), "a GPU");
      if (well) well = started(begin(i), what);
    }
    const auto ended = started(nccl.group_end(), what);
    if (well) well = ended;
    const Instant until = Clock::monotonic() + patience;
    for (std::size_t i = 0; i < members.size() && well;) {
      ncclResult_t state = ncclSuccess;
      well = nccl.tried(nccl.comm_get_async_error(members[i], &state), what);
      if (well) well = started(state, what);
      if (well && state != ncclInProgress) {
        ++i;
        continue;
      }
      if (well && watch) well = watch();
      if (well && Clock::monotonic() > until)
        well = failure(fmt::format("{}: NCCL has not come to an end for {}", what, text(patience)));
      std::this_thread::sleep_for(kSlice);
    }
    return well;
  }

  Result<void> started(ncclResult_t status, const char* what) const {
    return status == ncclInProgress ? Result<void>() : nccl.tried(status, what);
  }

  // NCCL connects with the first all-reduce.
  Result<void> connect(Duration patience, const std::function<Result<void>()>& watch) {
    std::vector<std::byte*> words(members.size());
    auto well = Result<void>();
    for (std::size_t i = 0; i < members.size() && well; ++i) {
      well = tried(cudaSetDevice(gpus.device(static_cast<int>(i))), "a GPU");
      void* word = nullptr;
      if (well) well = tried(cudaMalloc(&word, sizeof(float)), "memory of a GPU");
      words[i] = static_cast<std::byte*>(word);
    }
    if (well) {
      well = together("the first all-reduce", patience, watch, [&](std::size_t i) {
        return nccl.all_reduce(words[i], words[i], 1, ncclFloat, ncclSum, members[i], nullptr);
      });
    }
    const Instant until = Clock::monotonic() + patience;
    for (std::size_t i = 0; i < members.size() && well;) {
      well = tried(cudaSetDevice(gpus.device(static_cast<int>(i))), "a GPU");
      const cudaError_t state = cudaStreamQuery(nullptr);
      if (well && state != cudaErrorNotReady) {
        well = tried(state, "the first all-reduce");
        ++i;
        continue;
      }
      if (well && watch) well = watch();
      if (well && Clock::monotonic() > until)
        well = failure(fmt::format("the GPUs of other machines have not come for {}", text(patience)));
      std::this_thread::sleep_for(kSlice);
    }
    if (!well) abandon();  // or what runs might never end, and memory not be freed
    for (std::byte* word : words) (void)cudaFree(word);
    return well;
  }
};

Result<std::string> Clique::place() {
  const auto nccl = Nccl::load();
  if (!nccl) return tl::unexpected(nccl.error());
  ncclUniqueId id;
  if (auto made = (*nccl)->tried((*nccl)->get_unique_id(&id), "a place to meet"); !made)
    return tl::unexpected(made.error());
  return hexadecimal(std::as_bytes(std::span(id.internal)));
}

Result<std::unique_ptr<Clique>> Clique::meet(const Gpus& gpus, const std::string& place, Member member,
                                             Duration patience, const std::function<Result<void>()>& watch) {
  const auto nccl = Nccl::load();
  if (!nccl) return tl::unexpected(nccl.error());
  ncclUniqueId id;
  const auto bytes = from_hexadecimal(place);
  if (!bytes || bytes->size() != sizeof id.internal)
    return failure("where GPUs are to meet is no place of NCCL's");
  std::memcpy(id.internal, bytes->data(), bytes->size());
  const auto own = static_cast<std::size_t>(gpus.count());
  std::unique_ptr<Parts> parts(new Parts{**nccl, gpus, std::vector<ncclComm_t>(own, nullptr)});
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  auto met = parts->together("the meeting of all machines' GPUs", patience, watch, [&](std::size_t i) {
    return (*nccl)->comm_init_rank_config(&parts->members[i], member.all, id,
                                          member.first + static_cast<int>(i), &config);
  });
  if (met) met = parts->connect(patience, watch);
  if (!met) return tl::unexpected(met.error());
  return std::unique_ptr<Clique>(new Clique(std::move(parts)));
}

Clique::Clique(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Clique::~Clique() = default;

Result<void> Clique::start(const Op& op, const Plan& plan, const Buffers& buffers,
                           std::span<CUstream_st* const> streams) {
  const std::span<const int> gpus = plan.group(op.into.on.group());
  if (gpus.size() != parts_->members.size())
    return failure("an all-reduce over machines is one over all of their GPUs");
  const auto element = static_cast<std::size_t>(size(op.dtype).count());
  return parts_->together("an all-reduce", kStarting, {}, [&](std::size_t i) {
    const auto memory = buffers.bytes(Extent{op.into.buffer, gpus[i], {op.into.offset, op.into.size}});
    return parts_->nccl.all_reduce(memory.data(), memory.data(), memory.size() / element, nccl_type(op.dtype),
                                   ncclSum, parts_->members[i], streams[i]);
  });
}

void Clique::abandon() { parts_->abandon(); }

}  // namespace weir::real
