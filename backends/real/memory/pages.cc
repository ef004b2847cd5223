#include "backends/real/memory/pages.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <numa.h>
#include <numaif.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <limits>
#include <sstream>
#include <system_error>
#include <utility>

#include "backends/real/process/threads.h"
#include "core/base/units_text.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace weir::real {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr int kNoDescriptor = -1;
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

std::string why() { return std::generic_category().message(errno); }

// Checks before asking the system, which would promise memory that it lacks and later kill some process.
Result<void> check(Bytes size, const PageWishes& wishes) {
  if (size <= Bytes(0)) return failure(fmt::format("expected at least 1B of memory, not {}", text(size)));
  if (const Bytes left = available_memory(); size > left) {
    return failure(fmt::format("this machine has only {} of memory left, not {}; ask for less", rounded(left),
                               rounded(size)));
  }
  const std::vector<int> nodes = numa_nodes();
  if (wishes.numa && std::find(nodes.begin(), nodes.end(), *wishes.numa) == nodes.end()) {
    return failure(
        fmt::format("this machine has no NUMA node {}; try {}", *wishes.numa, fmt::join(nodes, ", ")));
  }
  return {};
}

std::size_t page_size() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

std::size_t whole_pages(Bytes size) {
  const std::size_t page = page_size();
  return (static_cast<std::size_t>(size.count()) + page - 1) / page * page;
}

// Reserves an aligned range of addresses with an inaccessible page behind it; null if there is none. That
// page also keeps the system from merging neighbouring mappings.
std::byte* reserve(std::size_t length, std::size_t alignment) {
  const std::size_t wide = length + page_size() + alignment;
  void* place = mmap(nullptr, wide, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) return nullptr;
  auto* begin = static_cast<std::byte*>(place);
  const std::size_t before = (alignment - reinterpret_cast<std::uintptr_t>(begin) % alignment) % alignment;
  if (before > 0) munmap(begin, before);
  const std::size_t kept = before + length + page_size();
  if (wide > kept) munmap(begin + kept, wide - kept);
  return begin + before;
}

// Has the system allocate all pages, in parts, since no thread of the process can get memory meanwhile.
// Kernels before 5.14 cannot do this, so there each page is touched. Pages of shared memory are only read,
// since another process may be writing to them.
Result<void> touch(std::byte* data, std::size_t length, bool shared) {
  constexpr std::size_t kPiece = std::size_t{64} << 20;
  std::size_t there = 0;
  while (there < length && madvise(data + there, std::min(kPiece, length - there), MADV_POPULATE_WRITE) == 0)
    there += std::min(kPiece, length - there);
  if (there == length) return {};
  if (errno != EINVAL) {
    return failure(fmt::format("the system cannot provide {} of memory: {}; ask for less",
                               rounded(Bytes(static_cast<std::int64_t>(length))), why()));
  }
  for (std::size_t at = 0; at < length; at += page_size()) {
    volatile std::byte* byte = data + at;
    const std::byte value = *byte;
    if (!shared) *byte = value;
  }
  return {};
}

}  // namespace

Bytes available_memory() {
  Bytes most(std::numeric_limits<std::int64_t>::max());
  std::int64_t limit = 0;
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> limit) most = Bytes(limit);
  std::ifstream file("/proc/meminfo");
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string name;
    std::int64_t kib = 0;
    if (words >> name >> kib && name == "MemAvailable:") return std::min(most, Bytes(kib * 1024));
  }
  return most;
}

Pages::Pages(std::byte* data, Bytes size, int descriptor)
    : data_(data), size_(size), descriptor_(descriptor) {}

Pages::~Pages() {
  munmap(data_, whole_pages(size_) + page_size());
  if (descriptor_ != kNoDescriptor) close(descriptor_);
}

std::optional<int> Pages::descriptor() const {
  return descriptor_ == kNoDescriptor ? std::nullopt : std::optional(descriptor_);
}

// Maps the memory. Takes the descriptor even if it fails.
Result<std::unique_ptr<Pages>> Pages::map(Bytes size, int descriptor, const PageWishes& wishes) {
  const std::size_t length = whole_pages(size);
  const bool huge = wishes.pages == PageWishes::Size::kHuge && length >= kHugePage;
  std::byte* place = reserve(length, huge ? kHugePage : page_size());
  const int kind = descriptor == kNoDescriptor ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  if (place == nullptr ||
      mmap(place, length, PROT_READ | PROT_WRITE, kind | MAP_FIXED, descriptor, 0) == MAP_FAILED) {
    const std::string reason = why();
    if (place != nullptr) munmap(place, length + page_size());
    if (descriptor != kNoDescriptor) close(descriptor);
    return failure(fmt::format("cannot map {} of memory: {}; ask for less", rounded(size), reason));
  }
  std::unique_ptr<Pages> pages(new Pages(place, size, descriptor));
  if (const auto settled = pages->settle(wishes); !settled) return tl::unexpected(settled.error());
  return pages;
}

// States where and how the pages should be, then has them allocated.
Result<void> Pages::settle(const PageWishes& wishes) {
  const std::size_t length = whole_pages(size_);
  const bool huge = wishes.pages == PageWishes::Size::kHuge;
  (void)madvise(data_, length, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);  // huge() shows the result
  if (wishes.numa && numa_available() >= 0) {
    // Preferred, not bound: if the node is full, memory elsewhere is better than a killed process.
    bitmask* nodes = numa_allocate_nodemask();
    numa_bitmask_setbit(nodes, static_cast<unsigned>(*wishes.numa));
    if (mbind(data_, length, MPOL_PREFERRED, nodes->maskp, nodes->size + 1, 0) == 0) numa_ = wishes.numa;
    numa_bitmask_free(nodes);
  }
  return touch(data_, length, descriptor().has_value());
}

Result<std::unique_ptr<Pages>> Pages::make(Bytes size, const PageWishes& wishes) {
  if (const auto fits = check(size, wishes); !fits) return tl::unexpected(fits.error());
  return map(size, kNoDescriptor, wishes);
}

Result<std::unique_ptr<Pages>> Pages::make_shared(Bytes size, const std::string& name,
                                                  const PageWishes& wishes) {
  if (const auto fits = check(size, wishes); !fits) return tl::unexpected(fits.error());
  const int descriptor = memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) {
    return failure(
        fmt::format("cannot make shared memory '{}': {}; is the limit of open files reached? "
                    "See ulimit -n",
                    name, why()));
  }
  if (ftruncate(descriptor, static_cast<off_t>(size.count())) != 0) {
    const std::string reason = why();
    close(descriptor);
    return failure(
        fmt::format("cannot make shared memory '{}' of {}: {}; ask for less", name, rounded(size), reason));
  }
  // Sealed, so that processes that map it can rely on its size: bytes behind a file's end cannot be touched.
  (void)fcntl(descriptor, F_ADD_SEALS, kSeals);  // map_shared() reports missing seals
  return map(size, descriptor, wishes);
}

Result<std::unique_ptr<Pages>> Pages::map_shared(int descriptor, Bytes size) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size <= 0) {
    return failure(
        fmt::format("descriptor {} is not shared memory; pass one from Pages::make_shared()", descriptor));
  }
  if (Bytes(status.st_size) != size) {
    return failure(fmt::format("the shared memory of descriptor {} has {} bytes, not {}", descriptor,
                               status.st_size, size.count()));
  }
  const int seals = fcntl(descriptor, F_GET_SEALS);
  if (seals < 0 || (seals & kSeals) != kSeals) {
    return failure(
        fmt::format("the shared memory of descriptor {} can still shrink; pass one from "
                    "Pages::make_shared()",
                    descriptor));
  }
  const int own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (own < 0) {
    return failure(fmt::format("cannot get a descriptor for shared memory: {}; see ulimit -n", why()));
  }
  return map(size, own, {});
}

Bytes Pages::huge() const {
  std::ifstream file("/proc/self/smaps");
  const auto begin = reinterpret_cast<std::uintptr_t>(data_);
  const std::uintptr_t end = begin + whole_pages(size_);
  std::string line;
  std::int64_t kib = 0;
  bool within = false;
  while (std::getline(file, line)) {
    std::uintptr_t from = 0;
    std::uintptr_t to = 0;
    char name[32] = {};
    long long value = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " ", &from, &to) == 2) {
      within = from >= begin && to <= end;
    } else if (within && std::sscanf(line.c_str(), "%31[^:]: %lld kB", name, &value) == 2) {
      if (std::string_view(name) == "AnonHugePages" || std::string_view(name) == "ShmemPmdMapped")
        kib += value;
    }
  }
  return Bytes(kib * 1024);
}

}  // namespace weir::real
