#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apps/weir/bench.h"
#include "apps/weir/input.h"
#include "apps/weir/output.h"
#include "apps/weir/table.h"
#include "apps/weir/version.h"
#include "backends/real/transport_meter.h"
#include "core/base/units_text.h"

namespace weir {
namespace {

struct Choices {
  std::vector<std::string> sizes = {"64KiB", "1MiB", "4MiB", "16MiB"};
  real::TransportSettings settings;
  double seconds = 1.0;
  int repetitions = 5;
  bool json = false;
};

// Medians over the repetitions; of shares too, as all rates of one are measured at about the same time.
struct Measured {
  Bytes message;
  real::TransportRate rate;
  double of_sockets;
  double of_spread;
  double of_copies;
};

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

Result<Measured> measure(const Choices& choices, Bytes message) {
  real::TransportSettings settings = choices.settings;
  settings.message = message;
  settings.time = Duration::from_seconds(choices.seconds);
  std::vector<real::TransportRate> rates;
  for (int i = 0; i < choices.repetitions; ++i) {
    const auto rate = real::measure_transport(settings);
    if (!rate) return tl::unexpected(rate.error());
    rates.push_back(*rate);
  }
  using Member = BytesPerSecond real::TransportRate::*;
  const auto middle = [&](Member member) {
    std::vector<BytesPerSecond> values;
    for (const real::TransportRate& rate : rates) values.push_back(rate.*member);
    return median(values);
  };
  const auto share_of = [&](Member member) {
    std::vector<double> values;
    for (const real::TransportRate& rate : rates) {
      values.push_back(static_cast<double>(rate.nodes.value()) / static_cast<double>((rate.*member).value()));
    }
    return median(values);
  };
  using real::TransportRate;
  return Measured{message,
                  {middle(&TransportRate::nodes), middle(&TransportRate::sockets),
                   middle(&TransportRate::spread), middle(&TransportRate::copies)},
                  share_of(&TransportRate::sockets),
                  share_of(&TransportRate::spread),
                  share_of(&TransportRate::copies)};
}

Result<ExitStatus> bench_transport(const Choices& choices) {
  std::vector<Bytes> sizes;
  for (const std::string& text : choices.sizes) {
    const auto size = parse_size(text);
    if (!size) return wrong("bench transport", Error{"--sizes: " + size.error().text});
    sizes.push_back(*size);
  }
  const Table table({{"messages of"},
                     {"nodes"},
                     {"plain sockets"},
                     {"share"},
                     {"as much memory"},
                     {"share"},
                     {"one copy"},
                     {"share"}});
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  if (!choices.json) print("{}", table.header());
  for (const Bytes size : sizes) {
    const auto measured = measure(choices, size);
    if (!measured) return tl::unexpected(measured.error());
    const real::TransportRate& rate = measured->rate;
    rows.push_back({{"message_bytes", size.count()},
                    {"nodes_bytes_per_s", rate.nodes.value()},
                    {"sockets_bytes_per_s", rate.sockets.value()},
                    {"share", measured->of_sockets},
                    {"spread_sockets_bytes_per_s", rate.spread.value()},
                    {"share_of_spread_sockets", measured->of_spread},
                    {"copies_bytes_per_s", rate.copies.value()},
                    {"share_of_copies", measured->of_copies}});
    if (choices.json) continue;
    print("{}", table.line({rounded(size), rounded(rate.nodes), rounded(rate.sockets),
                            percent(measured->of_sockets), rounded(rate.spread), percent(measured->of_spread),
                            rounded(rate.copies), percent(measured->of_copies)}));
    std::fflush(stdout);
  }
  if (choices.json) {
    const nlohmann::ordered_json document = {{"weir", version()},
                                             {"channels", choices.settings.channels},
                                             {"shared_memory", choices.settings.shared_memory},
                                             {"encrypt", choices.settings.sealed},
                                             {"io_threads", choices.settings.io_threads},
                                             {"under_way", choices.settings.under_way},
                                             {"repetitions", choices.repetitions},
                                             {"rows", rows}};
    print("{}\n", document.dump(2));
  }
  return kExitWell;
}

}  // namespace

void add_bench_transport(CLI::App& bench, ExitStatus& status) {
  CLI::App* command = bench.add_subcommand(
      "transport", "How fast two nodes of this host exchange messages, beside what plain sockets move");
  const auto choices = std::make_shared<Choices>();
  command->add_option("--sizes", choices->sizes, "Of the messages (64KiB,1MiB,4MiB,16MiB)")
      ->type_name("SIZES")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--under-way", choices->settings.under_way, "How many messages a node may send at once")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_option("--channels", choices->settings.channels, "Connections between the nodes")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command->add_option("--io-threads", choices->settings.io_threads, "Threads of each node that move bytes")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command->add_flag("--shared-memory", choices->settings.shared_memory, "Nodes share memory, instead of TCP");
  command->add_flag("--encrypt", choices->settings.sealed, "Nodes seal what they send over TCP");
  command->add_option("--seconds", choices->seconds, "Of each measurement")
      ->check(CLI::Range(0.01, 600.0))
      ->capture_default_str();
  command->add_option("--repetitions", choices->repetitions, "How often each is measured; medians are shown")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_flag("--json", choices->json, "Prints JSON");
  command->footer(
      "Two processes send each other messages all the time, and in turn with them two processes that do\n"
      "nothing but write to and read from a socket for each direction: the same 1 MiB again and again, "
      "which\n"
      "stays in caches, and then as much memory as the messages have. One copy is what each of two "
      "processes\n"
      "copies of as much memory, at most which a message through shared memory can reach. Rates are of one\n"
      "direction; shares are the nodes' of the rate to their left.\n\n"
      "Examples:\n"
      "  weir bench transport\n"
      "  weir bench transport --sizes 4MiB --channels 2 --io-threads 2 --json\n"
      "  weir bench transport --shared-memory");
  command->callback(
      [choices, &status] { status = exit_status("bench transport", bench_transport(*choices)); });
}

}  // namespace weir
