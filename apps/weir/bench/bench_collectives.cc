#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "apps/weir/bench/bench.h"
#include "apps/weir/bench/bench_text.h"
#include "apps/weir/options/input.h"
#include "apps/weir/options/world_options.h"
#include "apps/weir/text/output.h"
#include "backends/real/transport/wires.h"
#include "core/base/units_text.h"
#include "core/base/version.h"
#include "core/strategies/strategy.h"
#include "studies/bench/collectives.h"
#include "studies/output/table.h"
#include "studies/real/real_world.h"

namespace weir {
namespace {

struct BenchCollectivesChoices {
  std::string name;  // name of the command
  BenchJob job;
  std::vector<std::string> sizes = {"4MiB", "16MiB", "64MiB"};
  std::string part = "1MiB";
  bool json = false;
};

Result<ExitStatus> bench_collective(const BenchCollectivesChoices& choices) {
  BenchJob job = choices.job;
  const std::string name = "bench " + choices.name;
  const auto part = parse_size(choices.part);
  if (!part) return wrong(name.c_str(), Error{"--part: " + part.error().text});
  if (*part < Bytes(1000)) return wrong(name.c_str(), Error{"--part: expected at least 1KB"});
  job.part = *part;
  std::vector<Bytes> sizes;
  for (const std::string& text : choices.sizes) {
    const auto size = parse_size(text);
    if (!size) return wrong(name.c_str(), Error{"--bytes: " + size.error().text});
    if (size->count() < 4 || size->count() % 4 != 0)
      return wrong(name.c_str(),
                   Error{fmt::format("--bytes: {} is not a whole number of f32 elements; try 4MiB", text)});
    sizes.push_back(*size);
  }
  constexpr auto kRight = Table::Column::Side::kRight;
  const bool shared = shares_memory(job.real.transport);
  const Table table({{"gradients", kRight, 9},
                     {"time", kRight, 9},
                     {"algorithm", kRight, 10},
                     {"bus", kRight, 10},
                     {"all messages", kRight},
                     {shared ? "plain copies" : "plain sockets", kRight},
                     {"share", kRight, 7}});
  if (!choices.json) print("{}", table.header());
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Bytes size : sizes) {
    job.gradients = size;
    const auto measured = measure_collective(job);
    if (!measured) return tl::unexpected(measured.error());
    rows.push_back(fields_of(size, *measured));
    if (choices.json) continue;
    print("{}", table.line(cells_of(size, *measured)));
    std::fflush(stdout);
  }
  if (!choices.json) return kExitWell;
  const nlohmann::ordered_json document = {{"weir", version()},
                                           {"benchmark", choices.name},
                                           {"strategy", job.strategy},
                                           {"workers", job.workers},
                                           {"servers", job.servers},
                                           {"part_bytes", job.part.count()},
                                           {"rows", rows}};
  print("{}\n", document.dump(2));
  return kExitWell;
}

void add_common(CLI::App& command, BenchCollectivesChoices& choices) {
  BenchJob& job = choices.job;
  command.add_option("--bytes", choices.sizes, "Sizes of the gradients, which are f32 (4MiB,16MiB,64MiB)")
      ->type_name("SIZES")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_option("--part", choices.part, "The largest message")->type_name("SIZE")->capture_default_str();
  std::vector<real::TransportChoice> of_this_host;
  for (const real::Wire& wire : real::wires()) {
    if (!wire.traits.uses_devices) of_this_host.push_back(real::choice_of(wire.name));
  }
  add_transport(command, job.real.transport, "What moves messages", "--transport", of_this_host);
  command.add_option("--iterations", job.iterations, "How many iterations; medians are shown")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  command
      .add_option("--channels", job.real.channels,
                  "Connections between two machines (2, or one per core if a machine has fewer)")
      ->check(CLI::Range(1, 64));
  command
      .add_option("--io-threads", job.real.io_threads,
                  "Threads of each machine that move bytes (4, or one per core if it has fewer)")
      ->check(CLI::Range(1, 64));
  command.add_option("--sum-threads", job.real.workers, "Threads of each machine that sum and copy")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command.add_flag("--json", choices.json, "JSON instead of a table");
}

constexpr const char* kAboutCollectives =
    "Machines are processes of this host that run the plan as weir run --on local does. An iteration starts\n"
    "when all machines have ended the one before. algorithm: the gradients' bytes over the time of an\n"
    "iteration. bus: the bytes that the busiest machine sends or receives over that time. The rate of all\n"
    "messages is compared with the same number of plain processes that only send and receive (TCP) or copy\n"
    "(shm): the upper limit.\n";

}  // namespace

void add_bench_allreduce(CLI::App& bench, ExitStatus& status) {
  CLI::App* command =
      bench.add_subcommand("allreduce", "How fast processes of this host sum gradients among themselves");
  const auto choices = std::make_shared<BenchCollectivesChoices>();
  choices->name = "allreduce";
  choices->job.strategy = default_strategy();
  command->add_option("--nodes", choices->job.workers, "How many processes")
      ->check(CLI::Range(2, 256))
      ->capture_default_str();
  std::vector<std::string> serverless;
  for (const Strategy& strategy : strategies()) {
    if (strategy.kind != StrategyKind::kServers) serverless.emplace_back(strategy.name);
  }
  command
      ->add_option("--strategy", choices->job.strategy,
                   fmt::format("The strategy; {} works without CPU machines too", default_strategy()))
      ->check(CLI::IsMember(serverless))
      ->capture_default_str();
  add_common(*command, *choices);
  command->footer(std::string(kAboutCollectives) +
                  "\nExamples:\n"
                  "  weir bench allreduce --transport shm\n"
                  "  weir bench allreduce --nodes 2 --bytes 1MiB,256MiB --strategy ring --json");
  command->callback(
      [choices, &status] { status = exit_status("bench allreduce", bench_collective(*choices)); });
}

void add_bench_pushpull(CLI::App& bench, ExitStatus& status) {
  CLI::App* command =
      bench.add_subcommand("pushpull", "How fast processes of this host sum gradients on parameter servers");
  const auto choices = std::make_shared<BenchCollectivesChoices>();
  choices->name = "pushpull";
  choices->job.strategy = server_strategy();
  choices->job.workers = 2;
  choices->job.servers = 2;
  command->add_option("--workers", choices->job.workers, "Processes that have gradients")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  command->add_option("--servers", choices->job.servers, "Processes that sum them")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  add_common(*command, *choices);
  command->footer(std::string(kAboutCollectives) +
                  "\nExamples:\n"
                  "  weir bench pushpull --workers 4 --servers 2\n"
                  "  weir bench pushpull --bytes 4MiB,16MiB --transport shm --json");
  command->callback(
      [choices, &status] { status = exit_status("bench pushpull", bench_collective(*choices)); });
}

}  // namespace weir
