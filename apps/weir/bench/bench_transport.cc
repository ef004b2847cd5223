#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/weir/bench/bench.h"
#include "apps/weir/bench/bench_text.h"
#include "apps/weir/options/input.h"
#include "apps/weir/options/world_options.h"
#include "apps/weir/text/output.h"
#include "backends/real/memory/pages.h"
#include "backends/real/transport/wires.h"
#include "backends/real/wire/rdma/rdma.h"
#include "core/base/units_text.h"
#include "core/base/version.h"
#include "studies/bench/transports.h"
#include "studies/output/table.h"

namespace weir {
namespace {

constexpr const char* kFooter =
    "Rates are for one direction. The columns:\n"
    "  nodes          two nodes that send each other messages all the time\n"
    "  plain sockets  two plain processes, one socket for each direction: the same 1 MiB, from caches\n"
    "  as much memory the same, with as much memory as the messages have\n"
    "  one copy       each of two processes copies as much memory: the upper limit for shared memory\n"
    "  share          the nodes' rate divided by the rate in the column to its left\n"
    "Over RDMA:\n"
    "  plain writes   plain processes that only post the same writes\n"
    "  registrations  of memory, once the nodes have connected\n"
    "  copied         the bytes that the nodes' CPUs copy then\n\n"
    "Examples:\n"
    "  weir bench transport\n"
    "  weir bench transport --sizes 4MiB --channels 2 --io-threads 2 --json\n"
    "  weir bench transport --engine shm\n"
    "  weir bench transport --engine rdma --addresses 10.0.0.1,10.0.0.2";

struct BenchTransportChoices {
  std::vector<std::string> sizes = {"64KiB", "1MiB", "4MiB", "16MiB"};
  real::TransportSettings settings;
  double seconds = 1.0;
  std::vector<std::string> addresses;
  std::string offset = "0B";
  const CLI::Option* poll = nullptr;
  int repetitions = 5;
  bool json = false;
};

// The result for one message size, as a row of the table and of the document.
struct TransportRow {
  std::vector<std::string> cells;
  nlohmann::ordered_json fields;
};

// Only engines whose plain writes can be measured beside those of nodes.
bool is_rdma(real::TransportChoice engine) { return enum_name(engine) == real::rdma::kName; }

Result<TransportRow> measure(const BenchTransportChoices& choices, Bytes message) {
  real::TransportSettings settings = choices.settings;
  settings.message = message;
  settings.time = Duration::from_seconds(choices.seconds);
  if (is_rdma(settings.engine)) {
    const auto rates = write_rates(settings, choices.repetitions);
    if (!rates) return tl::unexpected(rates.error());
    return TransportRow{cells_of(message, *rates), fields_of(message, *rates)};
  }
  const auto rates = socket_rates(settings, choices.repetitions);
  if (!rates) return tl::unexpected(rates.error());
  return TransportRow{cells_of(message, *rates), fields_of(message, *rates)};
}

// Both nodes hold all messages under way, outgoing and incoming, in memory.
Result<void> check_size(Bytes message, int messages) {
  if (message < Bytes(1)) return failure("--sizes: a message has at least one byte; try 4MiB");
  if (const Bytes left = real::available_memory(); message > left / 4 / messages) {
    return failure(
        fmt::format("--sizes: two nodes with {} messages of {} under way each way do not fit into "
                    "the {} of memory that this host has left; try 4MiB",
                    messages, rounded(message), rounded(left)));
  }
  return {};
}

// Fails if choices contradict each other. Also stores the parsed ones in `choices`.
Result<std::vector<Bytes>> sizes_of(BenchTransportChoices& choices) {
  real::TransportSettings& settings = choices.settings;
  if (!choices.addresses.empty()) {
    if (choices.addresses.size() != settings.hosts.size())
      return failure("--addresses: expected two, as 10.0.0.1,10.0.0.2");
    std::copy(choices.addresses.begin(), choices.addresses.end(), settings.hosts.begin());
  }
  const auto offset = parse_size(choices.offset);
  if (!offset) return failure("--offset: " + offset.error().text);
  if (*offset >= kPage) return failure("--offset: expected less than a page, 4096B");
  settings.offset = *offset;
  std::vector<Bytes> sizes;
  for (const std::string& text : choices.sizes) {
    const auto size = parse_size(text);
    if (!size) return failure("--sizes: " + size.error().text);
    if (const auto held = check_size(*size, settings.under_way); !held) return tl::unexpected(held.error());
    sizes.push_back(*size);
  }
  if (settings.sealed && settings.engine != real::TransportChoice::kTcp)
    return failure("--encrypt: it encrypts only TCP connections; take --engine tcp");
  const bool rdma = is_rdma(settings.engine);
  if (rdma && choices.addresses.empty())
    return failure("--addresses: give those of one or two RDMA devices, as 10.0.0.1,10.0.0.2");
  if (!rdma && choices.poll->count() > 0) return failure("--poll: it is for RDMA; take --engine rdma");
  if (!rdma && settings.entries > 1)
    return failure("--entries: it is for writes over RDMA; take --engine rdma");
  return sizes;
}

nlohmann::ordered_json document_of(const BenchTransportChoices& choices, const nlohmann::ordered_json& rows) {
  return {{"weir", version()},
          {"channels", choices.settings.channels},
          {"engine", enum_name(choices.settings.engine)},
          {"addresses", choices.settings.hosts},
          {"encrypt", choices.settings.sealed},
          {"io_threads", choices.settings.io_threads},
          {"under_way", choices.settings.under_way},
          {"poll_ns", choices.settings.poll.ns()},
          {"offset_bytes", choices.settings.offset.count()},
          {"entries", choices.settings.entries},
          {"repetitions", choices.repetitions},
          {"rows", rows}};
}

Result<ExitStatus> bench_transport(BenchTransportChoices choices) {
  const auto sizes = sizes_of(choices);
  if (!sizes) return wrong("bench transport", sizes.error());
  const bool rdma = is_rdma(choices.settings.engine);
  const Table table(rdma ? std::vector<Table::Column>{{"messages of"},
                                                      {"nodes"},
                                                      {"plain writes"},
                                                      {"share"},
                                                      {"registrations"},
                                                      {"copied"}}
                         : std::vector<Table::Column>{{"messages of"},
                                                      {"nodes"},
                                                      {"plain sockets"},
                                                      {"share"},
                                                      {"as much memory"},
                                                      {"share"},
                                                      {"one copy"},
                                                      {"share"}});
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  if (!choices.json) print("{}", table.header());
  for (const Bytes size : *sizes) {
    const auto row = measure(choices, size);
    if (!row) return tl::unexpected(row.error());
    rows.push_back(row->fields);
    if (choices.json) continue;
    print("{}", table.line(row->cells));
    std::fflush(stdout);
  }
  if (choices.json) print("{}\n", document_of(choices, rows).dump(2));
  return kExitWell;
}

}  // namespace

void add_bench_transport(CLI::App& bench, ExitStatus& status) {
  CLI::App* command = bench.add_subcommand(
      "transport", "How fast two nodes of this host exchange messages, and how fast plain processes do");
  const auto choices = std::make_shared<BenchTransportChoices>();
  command->add_option("--sizes", choices->sizes, "Sizes of messages (64KiB,1MiB,4MiB,16MiB)")
      ->type_name("SIZES")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      ->add_option("--offset", choices->offset,
                   "Where each message begins after the start of a page, at both ends")
      ->type_name("SIZE")
      ->capture_default_str();
  command
      ->add_option("--entries", choices->settings.entries, "Pieces of memory in each plain write over RDMA")
      ->check(whole_number_from(1))
      ->capture_default_str();
  command->add_option("--under-way", choices->settings.under_way, "How many messages a node may send at once")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_option("--channels", choices->settings.channels, "Connections between the nodes")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command->add_option("--io-threads", choices->settings.io_threads, "Threads of each node that move bytes")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  std::vector<real::TransportChoice> engines;
  for (const real::Wire& wire : real::wires()) engines.push_back(real::choice_of(wire.name));
  add_transport(*command, choices->settings.engine, "What moves messages", "--engine", engines);
  command
      ->add_option(
          "--addresses", choices->addresses,
          "The two nodes' addresses on this host, of two devices if it has two (127.0.0.1,127.0.0.1)")
      ->type_name("A,B")
      ->delimiter(',')
      ->allow_extra_args(false);
  choices->poll = add_poll(*command, choices->settings.poll);
  command->add_flag("--encrypt", choices->settings.sealed, "Nodes encrypt what they send over TCP");
  command->add_option("--seconds", choices->seconds, "Time for each measurement")
      ->check(number_within(0.01, 600.0))
      ->capture_default_str();
  command->add_option("--repetitions", choices->repetitions, "How often each is measured; medians are shown")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_flag("--json", choices->json, "Prints JSON");
  command->footer(kFooter);
  command->callback(
      [choices, &status] { status = exit_status("bench transport", bench_transport(*choices)); });
}

}  // namespace weir
