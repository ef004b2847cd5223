#include "backends/real/compute/gpu/clique.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "backends/real/compute/gpu/nccl.h"
#include "backends/real/memory/cuda.h"
#include "backends/real/process/clock.h"
#include "core/base/hexadecimal.h"

namespace weir::real {
namespace {

// How long NCCL may take to begin a call. By then everything is connected, so only a fault takes so long.
constexpr Duration kStarting{10'000'000'000};
// The pause between two questions to NCCL: while the engine's thread waits, and while a machine waits.
constexpr auto kSoon = std::chrono::microseconds(2);
constexpr auto kSlice = std::chrono::microseconds(200);

// The name of this host's network interface with that address, IPv4 or IPv6; empty if there is none.
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
  set_unless_set("NCCL_RUNTIME_CONNECT", "0");  // connect now, not at the first collective of each size
  std::string interfaces;
  for (const std::string& address : addresses) {
    const std::string name = interface_of(address);
    if (name.empty()) return;  // it is a host's name: let NCCL choose
    interfaces += (interfaces.empty() ? "=" : ",") + name;
  }
  set_unless_set("NCCL_SOCKET_IFNAME", interfaces);
}

struct Clique::Parts {
  // How long to wait for NCCL, and how.
  struct Patience {
    Instant until;
    std::chrono::microseconds pause;
    const std::function<Result<void>()>& watch;

    Result<void> wait(const char* what) const {
      if (watch) {
        if (auto well = watch(); !well) return well;
      }
      if (Clock::monotonic() > until)
        return failure(
            fmt::format("{}: NCCL did not finish in time; NCCL_DEBUG=INFO makes it log more", what));
      std::this_thread::sleep_for(pause);
      return {};
    }
  };

  const Nccl& nccl;
  const Gpus& gpus;
  int all;                          // number of GPUs of all machines
  std::vector<ncclComm_t> members;  // by GPU; empty once abandoned

  ~Parts() { abandon(); }

  void abandon() {
    for (const ncclComm_t member : members) {
      if (member != nullptr) (void)nccl.comm_abort(member);
    }
    members.clear();
  }

  // Calls begin(i) for each GPU, as one group call of NCCL, and waits until it is under way.
  template <class Begin>
  Result<void> together(const char* what, const Patience& patience, const Begin& begin) const {
    auto well = nccl.tried(nccl.group_start(), what);
    for (std::size_t i = 0; i < members.size() && well; ++i) {
      well = tried(cudaSetDevice(gpus.device(static_cast<int>(i))), "a GPU");
      if (well) well = begun(begin(i), what);
    }
    const auto ended = begun(nccl.group_end(), what);
    if (well) well = ended;
    for (std::size_t i = 0; i < members.size() && well;) {
      const auto state = state_of(i, what);
      if (!state) return tl::unexpected(state.error());
      if (*state == ncclInProgress) {
        well = patience.wait(what);
      } else {
        ++i;
      }
    }
    return well;
  }

  Result<void> begun(ncclResult_t status, const char* what) const {
    return status == ncclInProgress ? Result<void>() : nccl.tried(status, what);
  }

  // Returns ncclSuccess or ncclInProgress.
  Result<ncclResult_t> state_of(std::size_t member, const char* what) const {
    ncclResult_t state = ncclSuccess;
    auto well = nccl.tried(nccl.comm_get_async_error(members[member], &state), what);
    if (well) well = begun(state, what);
    if (!well) return tl::unexpected(well.error());
    return state;
  }

  // Runs a first all-reduce. When it has ended, all GPUs are connected.
  Result<void> connect(const Patience& patience) {
    std::vector<void*> words(members.size(), nullptr);
    auto well = Result<void>();
    for (std::size_t i = 0; i < members.size() && well; ++i) {
      well = tried(cudaSetDevice(gpus.device(static_cast<int>(i))), "a GPU");
      if (well) well = tried(cudaMalloc(&words[i], sizeof(float)), "memory of a GPU");
    }
    if (well) {
      well = together("the first all-reduce", patience, [&](std::size_t i) {
        return nccl.all_reduce(words[i], words[i], 1, ncclFloat, ncclSum, members[i], nullptr);
      });
    }
    for (std::size_t i = 0; i < members.size() && well;) {
      well = tried(cudaSetDevice(gpus.device(static_cast<int>(i))), "a GPU");
      const cudaError_t state = cudaStreamQuery(nullptr);
      if (well && state == cudaErrorNotReady) {
        well = patience.wait("the first all-reduce");
      } else if (well) {
        well = tried(state, "the first all-reduce");
        ++i;
      }
    }
    if (!well) abandon();  // otherwise what runs might never end, and the memory never be freed
    for (void* word : words) (void)cudaFree(word);
    return well;
  }
};

Result<std::string> Clique::place() {
  const auto nccl = Nccl::load();
  if (!nccl) return tl::unexpected(nccl.error());
  ncclUniqueId id;
  if (auto made = (*nccl)->tried((*nccl)->get_unique_id(&id), "an NCCL rendezvous id"); !made)
    return tl::unexpected(made.error());
  return hexadecimal(std::as_bytes(std::span(id.internal)));
}

Result<std::unique_ptr<Clique>> Clique::meet(const Gpus& gpus, const std::string& place, Member member,
                                             Duration patience, const std::function<Result<void>()>& watch) {
  const auto nccl = Nccl::load();
  if (!nccl) return tl::unexpected(nccl.error());
  ncclUniqueId id;
  const auto bytes = from_hexadecimal(place);
  if (!bytes || bytes->size() != sizeof id.internal) return failure("invalid NCCL rendezvous id");
  std::memcpy(id.internal, bytes->data(), bytes->size());
  const auto own = static_cast<std::size_t>(gpus.count());
  std::unique_ptr<Parts> parts(new Parts{**nccl, gpus, member.all, std::vector<ncclComm_t>(own, nullptr)});
  const Parts::Patience until{Clock::monotonic() + patience, kSlice, watch};
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  auto met = parts->together("connecting the GPUs of all machines", until, [&](std::size_t i) {
    return (*nccl)->comm_init_rank_config(&parts->members[i], member.all, id,
                                          member.first + static_cast<int>(i), &config);
  });
  if (met) met = parts->connect(until);
  if (!met) return tl::unexpected(met.error());
  return std::unique_ptr<Clique>(new Clique(std::move(parts)));
}

Clique::Clique(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Clique::~Clique() = default;

Result<void> Clique::check(const Op& op, const Plan& plan) const {
  int ranks = 0;
  for (const OpId member : plan.all_reduce(op.all_reduce))
    ranks += static_cast<int>(plan.group(plan.op(member).into.on.group()).size());
  const std::size_t own = plan.group(op.into.on.group()).size();
  if (ranks == parts_->all && own == static_cast<std::size_t>(parts_->gpus.count())) return {};
  return failure(fmt::format("op {}: NCCL sums over all {} GPUs, but this all-reduce covers {}", op.id,
                             parts_->all, ranks));
}

Result<void> Clique::start(const Op& op, const Plan& plan, const Buffers& buffers,
                           std::span<CUstream_st* const> streams,
                           const std::function<Result<void>()>& watch) {
  if (parts_->members.empty()) return failure("NCCL has been stopped");
  const std::span<const int> gpus = plan.group(op.into.on.group());
  const auto element = static_cast<std::size_t>(size(op.dtype).count());
  const Parts::Patience patience{Clock::monotonic() + kStarting, kSoon, watch};
  return parts_->together("an all-reduce", patience, [&](std::size_t i) {
    const auto memory = buffers.bytes(Extent{op.into.buffer, gpus[i], {op.into.offset, op.into.size}});
    return parts_->nccl.all_reduce(memory.data(), memory.data(), memory.size() / element, nccl_type(op.dtype),
                                   ncclSum, parts_->members[i], streams[i]);
  });
}

Result<void> Clique::well() const {
  for (std::size_t i = 0; i < parts_->members.size(); ++i) {
    if (const auto state = parts_->state_of(i, "an all-reduce"); !state) return tl::unexpected(state.error());
  }
  return {};
}

void Clique::abandon() { parts_->abandon(); }

}  // namespace weir::real
