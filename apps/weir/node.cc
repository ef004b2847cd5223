#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>

#include "apps/weir/commands.h"
#include "apps/weir/options/environment.h"
#include "apps/weir/options/input.h"
#include "backends/real/compute/gpu/clique.h"
#include "backends/real/job/member.h"
#include "backends/real/session/session.h"
#include "backends/real/wire/socket.h"
#include "core/base/version.h"

namespace weir {
namespace {

struct NodeChoices {
  std::string key;
  std::optional<int> machine;
  std::vector<std::string> listen;
  std::vector<int> gpus;
  double patience = 30;
  std::optional<int> server;
};

// The rank of this process in variables of launchers: Weir, Slurm, Open MPI, torchrun. The first that is set
// counts.
Result<std::optional<int>> rank_of_environment() {
  for (const char* name : {"WEIR_RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "RANK"}) {
    const auto value = environment(name);
    if (!value || value->empty()) continue;
    const char* const end = value->data() + value->size();
    int rank = -1;
    const auto [after, failed] = std::from_chars(value->data(), end, rank);
    if (failed != std::errc() || after != end || rank < 0) {
      return failure(
          fmt::format("{}: '{}' is not a machine number; expected 0 or more, or --machine", name, *value));
    }
    return std::optional(rank);
  }
  return std::optional<int>();
}

// Reads no more than 64 KiB, which is longer than any key: some files have no end.
std::string start_of(std::istream& stream) {
  constexpr std::size_t kMost = 64 << 10;
  std::string text(kMost, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return text;
}

Result<real::JobKey> key_of(const std::string& file) {
  const auto given = environment("WEIR_JOB");
  if (file.empty() && given) return real::parse_key(*given, "the environment variable WEIR_JOB");
  if (file.empty())
    return failure(
        "--job: name the file that holds the job's key, or let a launcher set WEIR_JOB to the key's text");
  if (file == "-") return real::parse_key(start_of(std::cin), "the standard input");
  std::ifstream stream(file);
  if (!stream) return failure(file + ": there is no such file, or it cannot be read");
  return real::parse_key(start_of(stream), file);
}

Result<ExitStatus> take_part(const NodeChoices& choices) {
  const auto key = key_of(choices.key);
  if (!key) return wrong("node", key.error());
  for (const std::string& host : choices.listen) {
    if (const auto reachable = real::check_reachable(host); !reachable)
      return wrong("node", Error{"--listen: " + reachable.error().text});
  }
  const auto machine = choices.machine ? Result<std::optional<int>>(choices.machine) : rank_of_environment();
  if (!machine) return wrong("node", machine.error());
  if (*machine && **machine < 0)
    return wrong("node", Error{fmt::format("--machine: expected 0 or more, got {}", **machine)});
  if (!*machine) {
    return wrong("node",
                 Error{"--machine: say which machine of the cluster this is, from 0; or let a launcher set "
                       "WEIR_RANK, SLURM_PROCID, OMPI_COMM_WORLD_RANK or RANK"});
  }
  real::MemberSettings settings;
  settings.machine = MachineId(static_cast<std::size_t>(**machine));
  settings.listen = choices.listen;
  settings.gpus = choices.gpus;
  settings.version = version();
  settings.patience = Duration::from_seconds(choices.patience);
  real::introduce_to_nccl(settings.machine, settings.listen);
  if (const auto done = real::take_part(*key, settings); !done) return tl::unexpected(done.error());
  return kExitWell;
}

// Serves a training session. Its settings are in the environment (frontends/c/weir.h).
Result<ExitStatus> serve(const NodeChoices& choices) {
  const auto settings = real::read_session_settings(
      fmt::format(R"({{"server": {}, "listen": "{}"}})", *choices.server, choices.listen.front()),
      environment, true);
  if (!settings) return wrong("node", settings.error());
  if (const auto served = real::serve_session(*settings, std::string(version())); !served)
    return failure(served.error().text);
  return kExitWell;
}

}  // namespace

void add_node(CLI::App& weir, ExitStatus& status) {
  CLI::App* command =
      weir.add_subcommand("node", "Runs one machine's part of a job: joins the job, and ends with it");
  const auto choices = std::make_shared<NodeChoices>();
  command->add_option(
      "--job", choices->key,
      "The file with the job's key; - reads it from the standard input\n"
      "(if left out, the environment variable WEIR_JOB holds the key's text, not a file's name)");
  command->add_option("--machine", choices->machine, "Which machine of the cluster this is, counted from 0");
  command
      ->add_option("--listen", choices->listen,
                   "The address or name at which peers find this host. With several NICs, give it once for\n"
                   "each, in the topology's order, or once for all")
      ->type_name("HOST")
      ->allow_extra_args(false)
      ->required();
  command
      ->add_option(
          "--gpus", choices->gpus,
          "If the job uses GPUs: the devices of this host that are the machine's GPUs, in the topology's\n"
          "order (the first ones)")
      ->type_name("NUMBERS")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--patience", choices->patience, "Seconds to wait for each step of the job")
      ->check(number_within(0.1, 86400.0))
      ->capture_default_str();
  command
      ->add_option("--server", choices->server,
                   "Runs CPU machine N (from 0) of a training session instead (docs/pytorch.md).\n"
                   "WEIR_LEADER, WEIR_SECRET, WEIR_SIZE and WEIR_SERVERS describe the session")
      ->check(whole_number_from(0));
  command->footer(
      "A launcher starts one node for each machine of the topology: weir run --on local, weir launch, or a\n"
      "batch system. Whoever has the key can take part in the job: keep its file to yourself.");
  command->callback([choices, &status] {
    status = exit_status("node", choices->server ? serve(*choices) : take_part(*choices));
  });
}

}  // namespace weir
