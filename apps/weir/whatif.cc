#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <thread>

#include "apps/weir/commands.h"
#include "apps/weir/options/input.h"
#include "apps/weir/text/output.h"
#include "apps/weir/text/progress.h"
#include "apps/weir/text/whatif_text.h"
#include "core/analysis/local_choice.h"
#include "core/document/file_kind.h"
#include "core/strategies/strategy.h"
#include "studies/run/configuration.h"
#include "studies/run/simulated_world.h"

namespace weir {
namespace {

constexpr SettingOption kWishOptions[] = {{"counts", "--cpu-machines"}, {"nics", "--nic"},
                                          {"gpu_nics", "--gpu-nic"},    {"cpu_nics", "--cpu-nic"},
                                          {"locals", "--local"},        {"gpu_price", "--gpu-price"},
                                          {"cpu_price", "--cpu-price"}, {"group", "--group"}};

struct WhatifChoices {
  std::vector<std::string> files;
  Input input;
  Wishes wishes;
  int jobs = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  bool bound_only = false;
  bool json = false;
  bool csv = false;
};

Studied<ExitStatus> answer(WhatifChoices choices) {
  std::signal(SIGPIPE, SIG_IGN);
  choices.input.file = choices.files.front();
  if (choices.files.size() > 1) {
    choices.input.trace = choices.files.back();
  } else if (const auto document = read_document(choices.input.file);
             document && kind_of(*document) == FileKind::kTopology) {
    return wrong_input(Error{
        fmt::format("{} is a topology; give a trace too: weir whatif TOPOLOGY TRACE", choices.input.file)});
  }
  const auto experiment = choices.input.base();
  if (!experiment) return wrong_input(experiment.error());
  const auto scenarios = Scenarios::of(*experiment, choices.wishes);
  if (!scenarios) return wrong_input(with_options(scenarios.error(), kWishOptions));
  warn_tuned_for_others("whatif", choices.input, choices.wishes.strategies, name_of(experiment->trace));
  WhatifSettings settings{std::nullopt, experiment->seeds.front(), choices.jobs};
  if (!choices.bound_only) {
    const auto built = simulated_world();
    if (!built) return tl::unexpected(StudyError(built.error()));
    settings.world = *built;
  }

  const WhatifPage page{choices.input, *experiment, *scenarios, choices.bound_only};
  if (!choices.json && !choices.csv) introduce_whatif(page);
  std::fflush(stdout);
  const Progress progress(scenarios->runs());
  const WhatifAnswers answers = answer_whatif(*scenarios, settings, [&](std::size_t ended) {
    progress.clear();
    progress.show(ended);
  });
  progress.clear();
  print_missing(answers);
  if (choices.json) {
    print("{}", json(answers, page));
  } else if (choices.csv) {
    print("{}", csv(answers.series));
  } else if (answers.any()) {
    show(answers, page);
  }
  if (answers.signal) {
    print_error("weir whatif: interrupted: {} of {} runs are done\n", answers.ended, answers.runs);
    return 128 + *answers.signal;
  }
  if (!answers.any() && answers.failed() == 0) return failure("none of the combinations is possible");
  return answers.failed() > 0 ? kExitFailed : kExitWell;
}

void add_wishes(CLI::App& command, Wishes& wishes) {
  const auto list = [&](const char* name, std::vector<std::string>& into, const char* type,
                        const std::string& about) {
    return command.add_option(name, into, about)->type_name(type)->delimiter(',')->allow_extra_args(false);
  };
  list("--cpu-machines", wishes.counts, "COUNTS",
       "Numbers of CPU machines: 0..16 or 0,2,4 (default: 0 to the number of GPU\n"
       "machines, in at most 16 steps)");
  command.add_option("--group", wishes.group, "The group of CPU machines to vary, if there are several")
      ->check(not_empty("the name of a group"))
      ->type_name("NAME");
  CLI::Option* nic =
      list("--nic", wishes.nics, "RATES", "The goodput of each NIC of all machines: 25Gbps,50Gbps");
  list("--gpu-nic", wishes.gpu_nics, "RATES", "The same, only of machines with GPUs")->excludes(nic);
  list("--cpu-nic", wishes.cpu_nics, "RATES",
       "The same, only of the CPU machines. Adds CPU machines to a topology without any, each\n"
       "like the first NUMA node of a GPU machine, with one NIC")
      ->excludes(nic);
  std::string stages;
  for (const auto& named : enum_names(LocalStage{})) stages += fmt::format(" {}", named.name);
  list("--local", wishes.locals, "STAGES",
       "How gradients get from GPUs to host memory (reduce has one root, reduce_in_turn several,\n"
       "reduce_scatter all); some of:" +
           stages);
  list("--strategy", wishes.strategies, "NAMES",
       fmt::format("Strategies to compare ({})", default_strategy()))
      ->check([](const std::string& name) {
        const auto strategy = strategy_named(name);
        return strategy ? std::string() : strategy.error().text;
      });
  command
      .add_option("--gpu-price", wishes.gpu_price,
                  "Price of each machine with GPUs, in place of the topology's")
      ->check(not_empty("a price"))
      ->type_name("PRICE");
  command.add_option("--cpu-price", wishes.cpu_price, "Price of each CPU machine: '$4.20/h'")
      ->check(not_empty("a price"))
      ->type_name("PRICE");
}

}  // namespace

void add_whatif(CLI::App& weir, ExitStatus& status) {
  CLI::App* command =
      weir.add_subcommand("whatif", "Finds how many CPU machines, which NICs and which roots pay off");
  const auto choices = std::make_shared<WhatifChoices>();
  command->add_option("files", choices->files, "A topology and a trace; or an experiment, or its folder")
      ->required()
      ->expected(1, 2)
      ->type_name("FILE");
  add_wishes(*command, choices->wishes);
  add_settings(*command, choices->input);
  command->add_flag("--bound-only", choices->bound_only,
                    "Shows lower limits instead of simulated times: fast even on large clusters");
  command->add_option("--jobs", choices->jobs, "How many runs at once")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  CLI::Option* json = command->add_flag("--json", choices->json, "Prints the answers as JSON");
  command->add_flag("--csv", choices->csv, "Prints the answers as CSV")->excludes(json);
  command->footer(
      "Prints a table for each combination of NICs, local stages and strategies, with a line for each\n"
      "number of CPU machines: the time of an iteration; the speed-up over the fewest CPU machines; the\n"
      "cost of all machines for an hour, an iteration and 1000 samples; the saving per iteration; and what\n"
      "binds. Costs follow from the 'price' of the topology's groups, and do not depend on the NICs. The\n"
      "last line says what to do. Uses the first of an experiment's seeds, and ignores its strategies and\n"
      "sweep.\n\n"
      "Examples:\n"
      "  weir whatif topologies/cloud-v100-25gbps.json traces/bert-large.json\n"
      "  weir whatif mine.json traces/vgg-16.json --cpu-machines 0..4 --nic 25Gbps,50Gbps,100Gbps\n"
      "  weir whatif mine.json traces/vgg-16.json --local auto,reduce,reduce_in_turn,reduce_scatter\n"
      "  weir whatif mine.json traces/gpt-2.json --bound-only --set topology.groups.gpu.count=512");
  command->callback([choices, &status] { status = exit_status("whatif", answer(*choices)); });
}

}  // namespace weir
