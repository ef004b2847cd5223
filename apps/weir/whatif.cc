#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "apps/weir/commands.h"
#include "apps/weir/options/input.h"
#include "apps/weir/text/answers_text.h"
#include "apps/weir/text/output.h"
#include "apps/weir/text/progress.h"
#include "core/analysis/bound.h"
#include "core/analysis/local_choice.h"
#include "core/base/units_text.h"
#include "core/base/version.h"
#include "core/calibrate/split_label.h"
#include "core/strategies/strategy.h"
#include "studies/process/processes.h"
#include "studies/run/configuration.h"
#include "studies/run/labels.h"
#include "studies/run/simulated_world.h"

namespace weir {
namespace {

struct WhatifChoices {
  std::vector<std::string> files;
  Input input;
  Wishes wishes;
  int jobs = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  bool bound_only = false;
  bool json = false;
  bool csv = false;
};

// The unified strategy's split on a cluster, which takes no plan, and what it cannot beat.
struct SplitBound {
  LocalStageOf stages;
  Shares shares;
  Bound bound;
};

Result<SplitBound> split_bound_of(const Cluster& cluster, const Workload& workload,
                                  const Experiment& experiment) {
  const Dtype dtype = most_common_dtype(experiment.trace);
  auto local = choose_local(cluster, dtype, experiment.options);
  if (!local) return tl::unexpected(local.error());
  auto shares = shares_of(cluster, dtype, experiment.options, local->stages, Summing::kOptimal);
  if (!shares) return tl::unexpected(shares.error());
  Bound bound = split_bound(cluster, workload, *shares);
  return SplitBound{std::move(local->stages), std::move(*shares), std::move(bound)};
}

// The bound in place of a run's time.
Outcome bound_alone(const std::string& name, const Experiment& experiment) {
  const Cluster cluster = cluster_of(experiment);
  const Workload workload(experiment.trace);
  const Strategy& strategy = **strategy_named(name);
  const Options& options = experiment.options;
  Bound bound;
  Label label;
  if (name == "unified") {
    const auto split = split_bound_of(cluster, workload, experiment);
    if (!split) return {Outcome::Kind::kImpossible, {}, split.error().text};
    bound = split->bound;
    label = label_of_split(split->shares, split->stages, cluster, workload, experiment);
  } else {
    if (const auto fits = check_size(strategy, cluster, workload, options); !fits) {
      return {Outcome::Kind::kFailed, {}, fits.error().text};
    }
    const auto plan = strategy.plan(cluster, workload, options);
    if (!plan) return {Outcome::Kind::kImpossible, {}, plan.error().text};
    const WorkTable works(*plan, cluster);
    bound = plan_bound(*plan, cluster, works, workload);
    label = label_of(*plan, cluster, works, experiment, {&strategy, options});
  }
  Outcome outcome{Outcome::Kind::kRow, {}, {}};
  outcome.row.strategy = name;
  outcome.row.gpu_machines = static_cast<std::int64_t>(cluster.gpu_machines().size());
  outcome.row.iteration_ns = bound.time.ns();
  outcome.row.binding = bound.binding;
  set_label(outcome.row, label);
  double gpus = 0;
  for (const MachineId id : cluster.gpu_machines())
    gpus += static_cast<double>(cluster.machine(id).gpus.size());
  if (bound.time > Duration(0)) {
    outcome.row.samples_per_s = gpus * static_cast<double>(experiment.trace.batch) / bound.time.seconds();
  }
  return outcome;
}

/// All runs: for each scenario each number of CPU machines.
class Runs {
 public:
  Runs(const Scenarios& scenarios, std::uint64_t seed)
      : scenarios_(scenarios),
        seed_(seed),
        outcomes_(scenarios.scenarios().size() * scenarios.counts().size()) {}

  /// Until a signal comes. Without a world there are bounds alone.
  std::optional<int> run(const std::optional<World>& world, int jobs) {
    const Signals signals;
    Progress progress(outcomes_.size());
    const Task task = [&](std::size_t index) {
      return text(guarded([&] {
        const Experiment experiment = scenarios_.experiment(scenario(index), count(index));
        const std::string& strategy = scenario(index).strategy;
        return world ? weir::run({strategy, seed_, {}}, experiment, *world)
                     : bound_alone(strategy, experiment);
      }));
    };
    const Ended ended = [&](std::size_t index, const Result<std::string>& text) {
      outcomes_[index] = text ? outcome_from(*text) : Outcome{Outcome::Kind::kFailed, {}, text.error().text};
      progress.clear();
      progress.show(++ended_);
    };
    std::optional<int> signal = run_in_processes(outcomes_.size(), jobs, task, ended, signals);
    progress.clear();
    return signal ? signal : signals.arrived();
  }

  std::size_t size() const { return outcomes_.size(); }
  std::size_t ended() const { return ended_; }

  /// What has come of it.
  std::vector<Series> series() const {
    std::vector<Series> all;
    for (const Scenario& one : scenarios_.scenarios()) all.push_back({one, {}});
    const bool priced = !scenarios_.unpriced();
    for (std::size_t i = 0; i < outcomes_.size(); ++i) {
      if (!outcomes_[i] || outcomes_[i]->kind != Outcome::Kind::kRow) continue;
      std::optional<double> price;
      if (priced) price = price_an_hour(scenarios_.experiment(scenario(i), count(i)).topology);
      all[i / scenarios_.counts().size()].answers.push_back(
          answer_of(scenario(i), count(i), outcomes_[i]->row, price));
    }
    for (Series& one : all) compare(one.answers);
    return all;
  }

  /// Tells of the runs that ended so, a line for all that did for the same reason; how many those are.
  std::size_t tell(Outcome::Kind kind) const {
    struct Told {
      std::string who;
      std::string why;
      std::string counts;
    };
    std::vector<Told> told;
    std::size_t found = 0;
    for (std::size_t i = 0; i < outcomes_.size(); ++i) {
      if (!outcomes_[i] || outcomes_[i]->kind != kind) continue;
      ++found;
      const std::string who = text(scenario(i));
      const std::string& why = outcomes_[i]->text;
      if (told.empty() || told.back().who != who || told.back().why != why) {
        told.push_back({who, why, std::to_string(count(i))});
      } else {
        told.back().counts += fmt::format(", {}", count(i));
      }
    }
    for (const Told& one : told) {
      print_error("weir whatif: {} at {} CPU machines {}: {}\n", one.who, one.counts,
                  kind == Outcome::Kind::kFailed ? "failed" : "is not possible", one.why);
    }
    return found;
  }

 private:
  const Scenario& scenario(std::size_t index) const {
    return scenarios_.scenarios()[index / scenarios_.counts().size()];
  }
  int count(std::size_t index) const { return scenarios_.counts()[index % scenarios_.counts().size()]; }

  const Scenarios& scenarios_;
  std::uint64_t seed_;
  std::vector<std::optional<Outcome>> outcomes_;
  std::size_t ended_ = 0;
};

void introduce(const Experiment& experiment, const Scenarios& scenarios, bool bound_only) {
  const Topology& topology = experiment.topology;
  std::int64_t machines = 0;
  for (const GroupSpec& group : topology.groups) machines += gpu_count(group) > 0 ? group.count : 0;
  print("{} ({}) on {}: {} machines with GPUs, {} to {} in '{}'; {}\n", experiment.trace.name,
        rounded(size(experiment.trace)), topology.name, machines, scenarios.counts().front(),
        scenarios.counts().back(), scenarios.group(),
        bound_only ? "bounds, nothing is simulated" : "simulated");
  if (scenarios.made_up()) {
    print("The topology has no such group: its machines have the GPU machines' first NUMA node, and a NIC\n");
  }
}

// By the bound, and of the unified strategy alone: other strategies' bounds need large plans.
bool more_helps(const Scenarios& scenarios, const Scenario& scenario, std::int64_t count) {
  constexpr int kMostCount = 2048;
  if (scenario.strategy != "unified" || count == 0 || count > kMostCount) return false;
  const auto bound = [&](std::int64_t machines) {
    const Experiment experiment = scenarios.experiment(scenario, static_cast<int>(machines));
    const auto split = split_bound_of(cluster_of(experiment), Workload(experiment.trace), experiment);
    return split ? split->bound.time.seconds() : 0.0;
  };
  return bound(count) > bound(2 * count) * (1 + kKnee);
}

std::string advice(const std::vector<Series>& all, const Scenarios& scenarios) {
  return weir::advice(all, [&](const Scenario& scenario, std::int64_t count) {
    return more_helps(scenarios, scenario, count);
  });
}

void show(const std::vector<Series>& all, const Scenarios& scenarios, const Wording& wording, bool whole) {
  for (const Series& series : all) {
    if (series.answers.empty()) continue;
    print("\n{}{}", all.size() > 1 ? text(series.scenario) + "\n" : "", table(series, wording));
  }
  if (all.size() > 1) print("\n{}", knees(all, wording));
  print("\nknee: the fewest CPU machines within {:.0f} % of the shortest iteration\n", 100 * kKnee);
  std::vector<Labelled> labels;
  for (const Series& series : all) {
    for (const Answer& answer : series.answers)
      labels.push_back({text(series.scenario), answer.label.value_or(""), answer.label_reason.value_or("")});
  }
  print("{}", reasons(labels));
  if (const auto unpriced = scenarios.unpriced()) {
    print("No costs, as '{}' has no price in the topology; --gpu-price and --cpu-price give one\n",
          *unpriced);
  }
  if (whole) print("\n{}\n", advice(all, scenarios));
}

nlohmann::ordered_json members(const Experiment& experiment, const WhatifChoices& choices,
                               const Scenarios& scenarios, const std::vector<Series>& all, bool finished) {
  nlohmann::ordered_json members = {{"weir", version()},
                                    {"topology", choices.files.front()},
                                    {"trace", choices.files.back()},
                                    {"settings", choices.input.settings},
                                    {"group", scenarios.group()},
                                    {"currency", scenarios.currency()},
                                    {"sample", experiment.trace.sample},
                                    {"bound_only", choices.bound_only},
                                    {"finished", finished}};
  if (choices.files.size() == 1) {
    members.erase("trace");
    members.erase("topology");
    members["experiment"] = choices.files.front();
  }
  if (finished) members["advice"] = advice(all, scenarios);
  return members;
}

Result<ExitStatus> answer(WhatifChoices choices) {
  std::signal(SIGPIPE, SIG_IGN);
  choices.input.file = choices.files.front();
  if (choices.files.size() > 1) choices.input.trace = choices.files.back();
  const auto experiment = choices.input.base();
  if (!experiment) return wrong("whatif", experiment.error());
  const auto scenarios = Scenarios::of(*experiment, choices.wishes);
  if (!scenarios) return wrong("whatif", scenarios.error());
  tell_tuned_for_others("whatif", choices.input, choices.wishes.strategies, name_of(experiment->trace));
  std::optional<World> world;
  if (!choices.bound_only) {
    const auto built = simulated_world();
    if (!built) return tl::unexpected(built.error());
    world = *built;
  }

  const bool people = !choices.json && !choices.csv;
  if (people) introduce(*experiment, *scenarios, choices.bound_only);
  std::fflush(stdout);
  Runs runs(*scenarios, experiment->seeds.front());
  const std::optional<int> signal = runs.run(world, choices.jobs);
  const std::vector<Series> all = runs.series();
  const bool any =
      std::any_of(all.begin(), all.end(), [](const Series& series) { return !series.answers.empty(); });
  runs.tell(Outcome::Kind::kImpossible);
  const std::size_t failed = runs.tell(Outcome::Kind::kFailed);
  const bool whole = !signal && any;
  if (choices.json) {
    print("{}", json(all, members(*experiment, choices, *scenarios, all, whole)));
  } else if (choices.csv) {
    print("{}", csv(all));
  } else if (any) {
    show(all, *scenarios, {scenarios->currency(), experiment->trace.sample}, whole);
  }
  if (signal) {
    print_error("weir whatif: interrupted: {} of {} runs are done\n", runs.ended(), runs.size());
    return 128 + *signal;
  }
  if (!any && failed == 0) return failure("nothing that was asked for is possible");
  return failed > 0 ? kExitFailed : kExitWell;
}

void add_wishes(CLI::App& command, Wishes& wishes) {
  const auto list = [&](const char* name, std::vector<std::string>& into, const char* type,
                        const std::string& about) {
    return command.add_option(name, into, about)->type_name(type)->delimiter(',')->allow_extra_args(false);
  };
  list("--cpu-machines", wishes.counts, "COUNTS",
       "How many machines without GPUs: 0..16 or 0,2,4 (none to as many as have GPUs, in 16 steps at most)");
  command.add_option("--group", wishes.group, "The group that is counted, if several have no GPUs")
      ->type_name("NAME");
  CLI::Option* nic =
      list("--nic", wishes.nics, "RATES", "The goodput of each NIC of all machines: 25Gbps,50Gbps");
  list("--gpu-nic", wishes.gpu_nics, "RATES", "The same, of machines with GPUs alone")->excludes(nic);
  list("--cpu-nic", wishes.cpu_nics, "RATES",
       "The same, of the machines that are counted. A topology that has none then gets such machines: each\n"
       "the first NUMA node of a GPU machine, with a NIC")
      ->excludes(nic);
  std::string stages;
  for (const auto& named : enum_names(LocalStage{})) stages += fmt::format(" {}", named.name);
  list("--local", wishes.locals, "STAGES",
       "How gradients get from GPUs to host memory (which roots: reduce has one, reduce_in_turn several,\n"
       "reduce_scatter all), of:" +
           stages);
  list("--strategy", wishes.strategies, "NAMES", "Strategies to compare (unified)")
      ->check([](const std::string& name) {
        const auto strategy = strategy_named(name);
        return strategy ? std::string() : strategy.error().text;
      });
  command
      .add_option("--gpu-price", wishes.gpu_price, "Of each machine with GPUs, in place of the topology's")
      ->type_name("PRICE");
  command.add_option("--cpu-price", wishes.cpu_price, "Of each machine that is counted: '$4.20/h'")
      ->type_name("PRICE");
}

}  // namespace

void add_whatif(CLI::App& weir, ExitStatus& status) {
  CLI::App* command =
      weir.add_subcommand("whatif", "Answers how many CPU machines, what NICs and which roots pay");
  const auto choices = std::make_shared<WhatifChoices>();
  command->add_option("files", choices->files, "A topology and a trace; or an experiment, or its folder")
      ->required()
      ->expected(1, 2)
      ->type_name("FILE");
  add_wishes(*command, choices->wishes);
  add_settings(*command, choices->input);
  command->add_flag(
      "--bound-only", choices->bound_only,
      "Takes bounds for times: quick on the largest clusters, and never longer\nthan what a run takes");
  command->add_option("--jobs", choices->jobs, "How many runs at once")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  CLI::Option* json = command->add_flag("--json", choices->json, "Prints the answers as JSON");
  command->add_flag("--csv", choices->csv, "Prints the answers as CSV")->excludes(json);
  command->footer(
      "A table for each combination of NICs, local stages and strategies, with a line for each number of "
      "CPU\n"
      "machines: the time of an iteration, the speed-up over the fewest, what all machines cost (an hour, "
      "an\n"
      "iteration, 1000 samples) and what an iteration saves, by the 'price' of the topology's groups, "
      "whatever "
      "the\n"
      "NICs; and what binds. The last line says what to do. Of an experiment's strategies and sweep nothing "
      "is\n"
      "taken, of its seeds the first.\n\n"
      "Examples:\n"
      "  weir whatif topologies/cloud-v100-25gbps.json traces/bert-large.json\n"
      "  weir whatif mine.json traces/vgg-16.json --cpu-machines 0..4 --nic 25Gbps,50Gbps,100Gbps\n"
      "  weir whatif mine.json traces/vgg-16.json --local auto,reduce,reduce_in_turn,reduce_scatter\n"
      "  weir whatif mine.json traces/gpt-2.json --bound-only --set topology.groups.gpu.count=512");
  command->callback([choices, &status] { status = exit_status("whatif", answer(*choices)); });
}

}  // namespace weir
