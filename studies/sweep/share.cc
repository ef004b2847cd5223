#include "studies/sweep/share.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

namespace weir {
namespace {

constexpr int kMost = 1'000'000;

Result<int> number(const std::string& name, const std::string& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= 0 && value <= kMost) return value;
  return failure(fmt::format("{} is '{}'; expected a number from 0 to {}", name, text, kMost));
}

Result<Share> checked(int index, int count, const std::string& who) {
  if (count >= 1 && index < count) return Share{index, count};
  return failure(
      fmt::format("{} is rank {} of {}; expected a rank below the number of ranks", who, index, count));
}

// The share from the two variables; none if either is not set.
Result<std::optional<Share>> share_from(const Environment& environment, const std::string& rank,
                                        const std::string& size) {
  const auto index = environment(rank);
  const auto count = environment(size);
  if (!index || !count) return std::optional<Share>();
  const auto first = number(rank, *index);
  if (!first) return tl::unexpected(first.error());
  const auto second = number(size, *count);
  if (!second) return tl::unexpected(second.error());
  const auto share = checked(*first, *second, "by " + rank + " and " + size + " this process");
  if (!share) return tl::unexpected(share.error());
  return std::optional(*share);
}

// This process's share among those that were started together. A batch script has SLURM_PROCID too, but no
// step of its own: the commands that it calls are all that runs.
Result<Share> process_share(const Environment& environment) {
  struct Engine {
    const char* rank;
    const char* size;
    bool always_both = true;
  };
  constexpr Engine kEngines[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                 {"PMI_RANK", "PMI_SIZE"},
                                 {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
                                 {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", false}};
  for (const Engine& engine : kEngines) {
    const auto share = share_from(environment, engine.rank, engine.size);
    if (!share) return tl::unexpected(share.error());
    if (*share) return **share;
    if (engine.always_both && environment(engine.rank))  // otherwise each process would take everything
      return failure(fmt::format("share: {} is set, but {} is not; give the process its own, such as 1/3",
                                 engine.rank, engine.size));
  }
  return Share{};
}

// The share among the tasks of a job array. Their numbers must have even steps, because a task cannot learn
// the others' numbers.
Result<Share> array_share(const Environment& environment) {
  if (!environment("SLURM_ARRAY_TASK_ID")) return Share{};
  int values[4] = {};
  const char* const names[] = {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX",
                               "SLURM_ARRAY_TASK_COUNT"};
  for (std::size_t i = 0; i < std::size(values); ++i) {
    const auto value = number(names[i], environment(names[i]).value_or(""));
    if (!value) return tl::unexpected(value.error());
    values[i] = *value;
  }
  const auto [id, least, most, count] = values;
  const int step = count > 1 ? (most - least) / (count - 1) : 1;
  const bool even = count >= 1 && step >= 1 && least + step * (count - 1) == most && id >= least &&
                    id <= most && (id - least) % step == 0;
  if (even) return Share{(id - least) / step, count};
  return failure(fmt::format(
      "share: the numbers of the {} tasks of this job array, {} to {}, have no even steps, so their "
      "order is unknown; give each its own, such as 1/3",
      count, least, most));
}

Result<Share> parsed(const std::string& given) {
  const std::size_t slash = given.find('/');
  if (slash != std::string::npos) {
    const auto index = number("share", given.substr(0, slash));
    const auto count = number("share", given.substr(slash + 1));
    if (index && count && *index >= 1 && *index <= *count) return Share{*index - 1, *count};
  }
  return failure(fmt::format("share: '{}' is not a share; try 1/3, the first of three", given));
}

}  // namespace

std::string text(const Share& share) { return fmt::format("{} of {}", share.index + 1, share.count); }

Result<Share> share_of(const Environment& environment, const std::string& given) {
  if (!given.empty()) return parsed(given);
  auto process = process_share(environment);
  if (!process) return process;
  auto array = array_share(environment);
  if (!array) return array;
  return Share{array->index * process->count + process->index, array->count * process->count};
}

std::vector<std::size_t> taken(const Share& share, const std::vector<std::string>& keys) {
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return std::tie(keys[a], a) < std::tie(keys[b], b); });
  std::vector<std::size_t> own;
  for (auto i = static_cast<std::size_t>(share.index); i < order.size();
       i += static_cast<std::size_t>(share.count))
    own.push_back(order[i]);
  std::sort(own.begin(), own.end());
  return own;
}

}  // namespace weir
