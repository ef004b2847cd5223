#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "apps/weir/bench/bench.h"
#include "apps/weir/options/input.h"
#include "apps/weir/text/output.h"
#include "backends/real/compute/kernels.h"
#include "core/base/units_text.h"
#include "core/base/version.h"
#include "core/cluster/topology_fields.h"
#include "studies/bench/sums.h"
#include "studies/output/table.h"

namespace weir {
namespace {

using real::SumMeter;
using real::SumRate;

struct BenchSumChoices {
  std::string size = "64MiB";
  std::vector<std::string> dtypes = {"f32", "f64", "f16", "bf16", "i32", "i64"};
  std::vector<int> sources = {1, 2, 4, 8};
  std::vector<int> threads;  // one thread and all threads if empty
  int repetitions = 9;
  std::optional<int> numa;
  bool json = false;
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

Studied<ExitStatus> bench_sum(const BenchSumChoices& choices) {
  const auto size = parse_size(choices.size);
  if (!size) return wrong_input("--size: " + size.error().text);
  SumSettings settings{*size, {}, choices.sources, choices.threads, choices.repetitions, choices.numa};
  for (const std::string& name : choices.dtypes) settings.dtypes.push_back(dtype_named(name).value());
  const auto threads = threads_of(settings);
  if (!threads) return wrong_input("--numa: " + threads.error().text);
  settings.threads = *threads;
  const Table table = sums_table();
  SumEvents events;
  if (!choices.json) {
    events.begun = [&](Bytes memory, Bytes huge) {
      print("into += sources of {} each, {} of memory ({} in huge pages), {} instructions\n", rounded(*size),
            rounded(memory), rounded(huge), real::instructions());
      print("{}", table.header());
    };
    events.rate = [&](const SumRate& rate) {
      print("{}", table.line(cells(rate)));
      std::fflush(stdout);
    };
  }
  const auto measured = measure_sums(settings, events);
  if (!measured) return tl::unexpected(StudyError(measured.error()));
  if (choices.json) print("{}", json(choices, *size, *measured));
  return kExitWell;
}

template <class T>
CLI::Option* add_list(CLI::App& command, const char* name, std::vector<T>& into, const char* type,
                      const char* about) {
  return command.add_option(name, into, about)->type_name(type)->delimiter(',')->allow_extra_args(false);
}

std::string check_dtype(const std::string& name) {
  return dtype_named(name) ? "" : fmt::format("unknown type '{}'; try f32, f64, f16, bf16, i32 or i64", name);
}

}  // namespace

void add_bench_sum(CLI::App& bench, ExitStatus& status) {
  CLI::App* command =
      bench.add_subcommand("sum", "How fast the CPU sums gradients, and what its memory allows");
  const auto choices = std::make_shared<BenchSumChoices>();
  command->add_option("--size", choices->size, "Size of each operand; larger than caches, to measure memory")
      ->type_name("SIZE")
      ->capture_default_str();
  add_list(*command, "--dtypes", choices->dtypes, "TYPES",
           "Types of elements (all: f32,f64,f16,bf16,i32,i64)")
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
      "Rates are in bytes of the sources. For comparison, a plain loop reads and writes as many bytes and\n"
      "computes almost nothing: its rate is what memory allows. The rate with one source and all threads is\n"
      "'sum_rate' in a topology.\n\n"
      "Examples:\n"
      "  weir bench sum\n"
      "  weir bench sum --dtypes f32,bf16 --sources 1 --threads 1,2,4,8 --numa 0 --json");
  command->callback([choices, &status] { status = exit_status("bench sum", bench_sum(*choices)); });
}

}  // namespace weir
