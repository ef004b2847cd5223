#include <fmt/format.h>

#include <algorithm>
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

// Medians over the repetitions; of the share too, as both rates of one are measured at about the same time.
struct Measured {
  Bytes message;
  BytesPerSecond nodes;
  BytesPerSecond sockets;
  double share;
};

template <class T>
T median(std::vector<T> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Result<Measured> measure(const Choices& choices, Bytes message) {
  real::TransportSettings settings = choices.settings;
  settings.message = message;
  settings.time = Duration::from_seconds(choices.seconds);
  std::vector<BytesPerSecond> nodes;
  std::vector<BytesPerSecond> sockets;
  std::vector<double> shares;
  for (int i = 0; i < choices.repetitions; ++i) {
    const auto rate = real::measure_transport(settings);
    if (!rate) return tl::unexpected(rate.error());
    nodes.push_back(rate->nodes);
    sockets.push_back(rate->sockets);
    shares.push_back(static_cast<double>(rate->nodes.value()) / static_cast<double>(rate->sockets.value()));
  }
  return Measured{message, median(nodes), median(sockets), median(shares)};
}

Result<ExitStatus> bench_transport(const Choices& choices) {
  std::vector<Bytes> sizes;
  for (const std::string& text : choices.sizes) {
    const auto size = parse_size(text);
    if (!size) return wrong("bench transport", Error{"--sizes: " + size.error().text});
    sizes.push_back(*size);
  }
  const Table table({{"messages of"}, {"nodes"}, {"plain sockets"}, {"share"}});
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  if (!choices.json) print("{}", table.header());
  for (const Bytes size : sizes) {
    const auto measured = measure(choices, size);
    if (!measured) return tl::unexpected(measured.error());
    rows.push_back({{"message_bytes", size.count()},
                    {"nodes_bytes_per_s", measured->nodes.value()},
                    {"sockets_bytes_per_s", measured->sockets.value()},
                    {"share", measured->share}});
    if (choices.json) continue;
    print("{}", table.line({rounded(size), rounded(measured->nodes), rounded(measured->sockets),
                            fmt::format("{:.1f} %", 100 * measured->share)}));
    std::fflush(stdout);
  }
  if (choices.json) {
    const nlohmann::ordered_json document = {{"weir", version()},
                                             {"channels", choices.settings.channels},
                                             {"shared_memory", choices.settings.shared_memory},
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
  command->add_option("--seconds", choices->seconds, "Of each measurement")
      ->check(CLI::Range(0.01, 600.0))
      ->capture_default_str();
  command->add_option("--repetitions", choices->repetitions, "How often each is measured; medians are shown")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_flag("--json", choices->json, "Prints JSON");
  command->footer(
      "Two processes send each other messages all the time, and in turn with them two processes that do\n"
      "nothing but write to and read from a socket for each direction. Rates are of one direction.\n\n"
      "Examples:\n"
      "  weir bench transport\n"
      "  weir bench transport --sizes 4MiB --channels 2 --io-threads 2 --json");
  command->callback(
      [choices, &status] { status = exit_status("bench transport", bench_transport(*choices)); });
}

}  // namespace weir
