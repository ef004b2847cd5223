#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/weir/bench/bench.h"
#include "apps/weir/options/input.h"
#include "apps/weir/text/output.h"
#include "backends/real/compute/kernels.h"
#include "backends/real/meters/sum_meter.h"
#include "backends/real/process/threads.h"
#include "core/base/units_text.h"
#include "core/base/version.h"
#include "core/cluster/topology_fields.h"
#include "studies/output/table.h"

namespace weir {
namespace {

using real::SumMeter;
using real::SumRate;
using real::Team;

struct BenchSumChoices {
  std::string size = "64MiB";
  std::vector<std::string> dtypes = {"f32", "f64", "f16", "bf16", "i32", "i64"};
  std::vector<int> sources = {1, 2, 4, 8};
  std::vector<int> threads;  // one and all if none are given
  int repetitions = 9;
  std::optional<int> numa;
  bool json = false;
};

std::vector<int> one_and_all(int all) { return all > 1 ? std::vector{1, all} : std::vector{1}; }

// All that was measured, and on what.
struct MeasuredSums {
  std::vector<SumRate> rates;
  Bytes memory;
  Bytes huge;
};

Table sums_table() {
  Table table({{"type", Table::Column::Side::kLeft, 4},
               {"sources"},
               {"threads"},
               {"sum", Table::Column::Side::kRight, 11},
               {"memory allows", Table::Column::Side::kRight},
               {"share", Table::Column::Side::kRight, 7}});
  return table;
}

Table::Cells cells(const SumRate& rate) {
  return {std::string(name(rate.dtype)), std::to_string(rate.sources),
          std::to_string(rate.threads),  rounded_in_bytes(rate.rate),
          rounded_in_bytes(rate.limit),  fmt::format("{:.1f} %", 100 * rate.share())};
}

Result<MeasuredSums> measure(const BenchSumChoices& choices, Bytes size, const std::vector<int>& threads) {
  const int most = *std::max_element(choices.sources.begin(), choices.sources.end());
  std::vector<std::unique_ptr<Team>> teams;
  for (const int count : threads) {
    auto team = Team::make(count, choices.numa);
    if (!team) return tl::unexpected(team.error());
    teams.push_back(std::move(*team));
  }
  auto meter = SumMeter::make({size, most, choices.numa});
  if (!meter) return tl::unexpected(meter.error());
  MeasuredSums measured{{}, (*meter)->memory(), (*meter)->huge()};
  const Table table = sums_table();
  if (!choices.json) {
    print("into += sources of {} each, {} of memory ({} in huge pages), {} instructions\n", rounded(size),
          rounded(measured.memory), rounded(measured.huge), real::instructions());
    print("{}", table.header());
  }
  for (const std::string& dtype : choices.dtypes) {
    for (const auto& team : teams) {
      for (const int sources : choices.sources) {
        measured.rates.push_back(
            (*meter)->measure(dtype_named(dtype).value(), sources, *team, choices.repetitions));
        if (choices.json) continue;
        print("{}", table.line(cells(measured.rates.back())));
        std::fflush(stdout);
      }
    }
  }
  return measured;
}

std::string json(const BenchSumChoices& choices, Bytes size, const MeasuredSums& measured) {
  nlohmann::ordered_json document = {{"weir", version()},
                                     {"size", text(size)},
                                     {"repetitions", choices.repetitions},
                                     {"instructions", real::instructions()},
                                     {"memory_bytes", measured.memory.count()},
                                     {"huge_bytes", measured.huge.count()},
                                     {"rows", nlohmann::ordered_json::array()}};
  if (choices.numa) document["numa"] = *choices.numa;
  for (const SumRate& rate : measured.rates) {
    document["rows"].push_back({{"dtype", name(rate.dtype)},
                                {"sources", rate.sources},
                                {"threads", rate.threads},
                                {"sum_bytes_per_s", rate.rate.value()},
                                {"limit_bytes_per_s", rate.limit.value()},
                                {"share", rate.share()}});
  }
  return document.dump(2) + "\n";
}

Result<ExitStatus> bench_sum(const BenchSumChoices& choices) {
  const auto size = parse_size(choices.size);
  if (!size) return wrong("bench sum", Error{"--size: " + size.error().text});
  std::vector<int> cpus = real::allowed_cpus();
  if (choices.numa) {
    const auto near = real::cpus_of(*choices.numa);
    if (!near) return wrong("bench sum", Error{"--numa: " + near.error().text});
    cpus = *near;
  }
  const std::vector<int> threads =
      choices.threads.empty() ? one_and_all(static_cast<int>(cpus.size())) : choices.threads;
  const auto measured = measure(choices, *size, threads);
  if (!measured) return tl::unexpected(measured.error());
  if (choices.json) print("{}", json(choices, *size, *measured));
  return kExitWell;
}

template <class T>
CLI::Option* add_list(CLI::App& command, const char* name, std::vector<T>& into, const char* type,
                      const char* about) {
  return command.add_option(name, into, about)->type_name(type)->delimiter(',')->allow_extra_args(false);
}

std::string check_dtype(const std::string& name) {
  return dtype_named(name) ? "" : fmt::format("'{}' is no type; try f32, f64, f16, bf16, i32 or i64", name);
}

}  // namespace

void add_bench_sum(CLI::App& bench, ExitStatus& status) {
  CLI::App* command =
      bench.add_subcommand("sum", "How fast the CPU sums gradients, beside what its memory allows");
  const auto choices = std::make_shared<BenchSumChoices>();
  command->add_option("--size", choices->size, "Of each operand; more than caches hold, to measure memory")
      ->type_name("SIZE")
      ->capture_default_str();
  add_list(*command, "--dtypes", choices->dtypes, "TYPES", "Of the elements (all: f32,f64,f16,bf16,i32,i64)")
      ->check(check_dtype);
  add_list(*command, "--sources", choices->sources, "COUNTS", "How many are added at once (1,2,4,8)")
      ->check(CLI::Range(1, SumMeter::kMostSources));
  add_list(*command, "--threads", choices->threads, "COUNTS",
           "How many threads share each sum (1 and as many as there are CPUs)")
      ->check(CLI::Range(1, kMostThreads));
  command->add_option("--repetitions", choices->repetitions, "How often each is measured; medians are shown")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  command->add_option("--numa", choices->numa, "The NUMA node whose memory and CPUs are used (any)")
      ->type_name("NODE");
  command->add_flag("--json", choices->json, "Prints JSON");
  command->footer(
      "Rates are in bytes of the sources. Beside each sum, and in turn with it, runs a plain loop that "
      "reads\n"
      "and writes as many bytes of as many operands and computes next to nothing: what memory allows. The "
      "rate\n"
      "of one source and all threads is 'sum_rate' in a topology.\n\n"
      "Examples:\n"
      "  weir bench sum\n"
      "  weir bench sum --dtypes f32,bf16 --sources 1 --threads 1,2,4,8 --numa 0 --json");
  command->callback([choices, &status] { status = exit_status("bench sum", bench_sum(*choices)); });
}

}  // namespace weir
