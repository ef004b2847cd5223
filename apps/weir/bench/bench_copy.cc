#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "apps/weir/bench/bench.h"
#include "apps/weir/options/input.h"
#include "apps/weir/text/output.h"
#include "backends/real/memory/gpus.h"
#include "core/base/units_text.h"
#include "core/base/version.h"
#include "studies/bench/copies.h"
#include "studies/output/table.h"

namespace weir {
namespace {

struct BenchCopyChoices {
  std::vector<std::string> sizes = {"1MB", "4MB", "16MB"};
  int repetitions = 8;
  bool json = false;
};

Result<ExitStatus> bench_copy(const BenchCopyChoices& choices) {
  std::vector<Bytes> sizes;
  for (const std::string& text : choices.sizes) {
    const auto size = parse_size(text);
    if (!size) return wrong("bench copy", Error{"--parts: " + size.error().text});
    if (*size < Bytes(1)) return wrong("bench copy", Error{"--parts: a part has at least one byte; try 4MB"});
    sizes.push_back(*size);
  }
  const auto count = real::gpu_count();
  if (!count) return tl::unexpected(count.error());
  const Table table({{"GPU"}, {"parts of"}, {"each way"}, {"plain copies"}, {"share"}});
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  if (!choices.json) print("{}", table.header());
  const auto show = [&](const CopyRow& row) {
    rows.push_back({{"device", row.device},
                    {"part_bytes", row.part.count()},
                    {"bytes_per_s", row.rate.parts.value()},
                    {"plain_bytes_per_s", row.rate.plain.value()},
                    {"share", row.share()}});
    if (choices.json) return;
    print("{}", table.line({std::to_string(row.device), rounded(row.part), rounded_in_bytes(row.rate.parts),
                            rounded_in_bytes(row.rate.plain), fmt::format("{:.1f} %", 100 * row.share())}));
    std::fflush(stdout);
  };
  if (const auto measured = copy_rates(*count, sizes, choices.repetitions, show); !measured)
    return tl::unexpected(measured.error());
  if (choices.json)
    print("{}\n", nlohmann::ordered_json{{"weir", version()}, {"benchmark", "copy"}, {"rows", rows}}.dump(2));
  return kExitWell;
}

}  // namespace

void add_bench_copy(CLI::App& bench, ExitStatus& status) {
  CLI::App* command =
      bench.add_subcommand("copy", "How fast gradients get from this host's GPUs to its memory and back");
  const auto choices = std::make_shared<BenchCopyChoices>();
  command->add_option("--parts", choices->sizes, "Sizes of parts; 256 MiB are copied each way (1MB,4MB,16MB)")
      ->type_name("SIZES")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--repetitions", choices->repetitions, "How often each is measured")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  command->add_flag("--json", choices->json, "JSON instead of a table");
  command->footer(
      "Measures each GPU alone, both ways at once. A node copies each part as an op of its plan. Plain\n"
      "copies of pinned memory, 256 MiB at once, show what is possible.\n"
      "\nExamples:\n"
      "  weir bench copy\n"
      "  weir bench copy --parts 4MB --json");
  command->callback([choices, &status] { status = exit_status("bench copy", bench_copy(*choices)); });
}

}  // namespace weir
