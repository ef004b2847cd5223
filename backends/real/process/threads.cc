#include "backends/real/process/threads.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <memory>
#include <optional>
#include <system_error>

namespace weir::real {
namespace {

constexpr const char* kNodes = "/sys/devices/system/node";

// The size of masks: more CPUs than any kernel supports.
constexpr int kMostCpus = 1 << 14;

struct FreeMask {
  void operator()(cpu_set_t* mask) const { CPU_FREE(mask); }
};
using Mask = std::unique_ptr<cpu_set_t, FreeMask>;

Mask empty_mask() {
  Mask mask(CPU_ALLOC(kMostCpus));
  if (mask) CPU_ZERO_S(CPU_ALLOC_SIZE(kMostCpus), mask.get());
  return mask;
}

std::optional<std::string> line_of(const std::string& file) {
  std::ifstream stream(file);
  std::string line;
  if (!std::getline(stream, line)) return std::nullopt;
  return line;
}

// Cuts the number off the beginning of the text.
std::optional<int> take_number(std::string_view& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

}  // namespace

std::vector<int> numbers_in(const std::string& list) {
  std::vector<int> numbers;
  std::string_view rest = list;
  while (!rest.empty()) {
    const std::optional<int> first = take_number(rest);
    if (!first) return {};
    int last = *first;
    if (rest.starts_with('-')) {
      rest.remove_prefix(1);
      const std::optional<int> end = take_number(rest);
      if (!end || *end < last || *end - last >= kMostCpus) return {};
      last = *end;
    }
    for (int number = *first; number <= last; ++number) numbers.push_back(number);
    if (rest.empty()) break;
    if (!rest.starts_with(',')) return {};
    rest.remove_prefix(1);
  }
  return numbers;
}

std::vector<int> numa_nodes() {
  const std::optional<std::string> list = line_of(fmt::format("{}/online", kNodes));
  std::vector<int> nodes = list ? numbers_in(*list) : std::vector<int>();
  return nodes.empty() ? std::vector{0} : nodes;
}

std::vector<int> allowed_cpus() {
  std::vector<int> cpus;
  const Mask mask = empty_mask();
  const std::size_t bytes = CPU_ALLOC_SIZE(kMostCpus);
  if (mask && sched_getaffinity(getpid(), bytes, mask.get()) == 0) {
    for (int cpu = 0; cpu < kMostCpus; ++cpu) {
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes, mask.get())) cpus.push_back(cpu);
    }
  }
  return cpus;
}

int io_threads_for(std::size_t machines) {
  const std::size_t share = allowed_cpus().size() / std::max<std::size_t>(machines, 1);
  return static_cast<int>(std::clamp<std::size_t>(share, 1, kMostIoThreads));
}

Result<std::vector<int>> cpus_of(int numa) {
  const std::vector<int> nodes = numa_nodes();
  if (std::find(nodes.begin(), nodes.end(), numa) == nodes.end()) {
    return failure(fmt::format("this machine has no NUMA node {}; try {}", numa, fmt::join(nodes, ", ")));
  }
  const std::vector<int> allowed = allowed_cpus();
  const std::optional<std::string> list = line_of(fmt::format("{}/node{}/cpulist", kNodes, numa));
  if (!list) return allowed;  // a system without information on nodes
  std::vector<int> cpus;
  const std::vector<int> all = numbers_in(*list);
  std::set_intersection(all.begin(), all.end(), allowed.begin(), allowed.end(), std::back_inserter(cpus));
  if (cpus.empty()) {
    return failure(
        fmt::format("this process may use no CPU of NUMA node {} (CPUs '{}'); allow some "
                    "with taskset or numactl",
                    numa, *list));
  }
  return cpus;
}

Result<void> pin_to_cpus(std::span<const int> cpus) {
  const Mask mask = empty_mask();
  if (!mask) return failure("not enough memory for a mask of CPUs");
  const std::size_t bytes = CPU_ALLOC_SIZE(kMostCpus);
  for (const int cpu : cpus) {
    if (cpu >= 0 && cpu < kMostCpus) CPU_SET_S(static_cast<std::size_t>(cpu), bytes, mask.get());
  }
  if (sched_setaffinity(0, bytes, mask.get()) != 0) {
    return failure(fmt::format("cannot pin a thread to CPUs {}: {}; this process may use {}",
                               fmt::join(cpus, ", "), std::generic_category().message(errno),
                               fmt::join(allowed_cpus(), ", ")));
  }
  return {};
}

Result<void> pin_to_numa(int numa) {
  const auto cpus = cpus_of(numa);
  if (!cpus) return tl::unexpected(cpus.error());
  return pin_to_cpus(*cpus);
}

}  // namespace weir::real
