#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "apps/weir/commands.h"
#include "apps/weir/options/input.h"
#include "apps/weir/options/world_options.h"
#include "apps/weir/text/output.h"
#include "apps/weir/text/scoreboard.h"
#include "core/base/units_text.h"
#include "studies/output/files.h"
#include "studies/process/processes.h"
#include "studies/run/labels.h"
#include "studies/run/plots.h"
#include "studies/run/published_comparison.h"
#include "studies/run/result_files.h"

namespace weir {
namespace {

namespace fs = std::filesystem;

struct RunChoices {
  Input input;
  std::string out;
  std::string page;
  int jobs = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  bool skip_plots = false;
  bool records = false;
  WorldOptions world;
};

// One experiment of a run, and where its results go.
struct Job {
  std::string name;
  std::string folder;
  ExperimentFile file;
  Configuration configuration;
};

// What came of it.
struct Ran {
  ExitStatus status = kExitWell;
  bool interrupted = false;
  std::vector<Comparison> compared;
};

// "quickstart" for experiments/quickstart/experiment.json and for experiments/quickstart.json.
fs::path named(const fs::path& file) {
  return file.filename() == "experiment.json" ? file.parent_path() : fs::path(file).replace_extension();
}

// The experiment in the file, whose name is that on the command line or of a suite's there.
Result<Job> job_of(const std::string& file, const RunChoices& choices) {
  Input input = choices.input;
  input.file = file;
  auto read = input.read();
  if (!read) return tl::unexpected(read.error());
  constexpr std::size_t kMany = 1000;
  if (read->points() >= kMany) print_error("weir run: checking {} points first\n", read->points());
  auto configuration = configuration_of(*read);
  if (!configuration) return tl::unexpected(configuration.error());
  const fs::path whole = fs::absolute(choices.input.file).lexically_normal();
  const fs::path own = named(fs::absolute(read->name()).lexically_normal());
  if (file == choices.input.file) {
    const std::string name = own.filename().string();
    const fs::path folder = choices.out.empty() ? fs::path("results") / name : fs::path(choices.out);
    return Job{name, folder.string(), std::move(*read), std::move(*configuration)};
  }
  const fs::path suite = whole.has_filename() ? whole.filename() : whole.parent_path().filename();
  const fs::path name = own.lexically_relative(whole);
  const fs::path folder = choices.out.empty() ? "results" / suite : fs::path(choices.out);
  return Job{name.string(), (folder / name).string(), std::move(*read), std::move(*configuration)};
}

// All experiments that are asked for. Results go to results/NAME; those of a suite into folders of that, laid
// out as the suite is.
Result<std::vector<Job>> jobs_of(const RunChoices& choices) {
  const auto files = choices.input.experiments();
  if (!files) return tl::unexpected(files.error());
  std::vector<Job> jobs;
  std::vector<std::string> complaints;
  for (const std::string& file : *files) {
    if (auto job = job_of(file, choices)) {
      jobs.push_back(std::move(*job));
    } else {
      complaints.push_back(job.error().text);
    }
  }
  if (!complaints.empty()) return failure(fmt::format("{}", fmt::join(complaints, "\n")));
  return jobs;
}

void introduce(const Configuration& configuration, std::size_t runs, const std::string& folder) {
  const Experiment& experiment = configuration.first;
  if (!experiment.question.empty()) print("{}\n", experiment.question);
  print("{} on {}: {} {}, speed-ups over {}, into {}\n\n", names(configuration.traces),
        names(configuration.topologies), runs, runs == 1 ? "run" : "runs", experiment.baseline, folder);
  std::fflush(stdout);
}

// A run with a wrong sum has failed.
void tell_checked(const Results& results) {
  std::int64_t elements = 0;
  int runs = 0;
  for (const Run& run : results.runs()) {
    if (!run.outcome || !run.outcome->row.checked_elements) continue;
    elements += *run.outcome->row.checked_elements;
    ++runs;
  }
  if (runs > 0)
    print("\nsums of {} elements were checked in {} {}: all are right\n", elements, runs,
          runs == 1 ? "run" : "runs");
}

// A run may be faster than links that it does not use.
void tell_unbounded(const Results& results) {
  const auto unbounded = [](const Run& run) {
    return run.outcome && run.outcome->kind == Outcome::Kind::kRow && !run.outcome->row.bound_percent;
  };
  if (std::any_of(results.runs().begin(), results.runs().end(), unbounded))
    print(
        "\nbounds are of the topology's links, and machines shared memory instead: no part of them is "
        "told\n");
}

void tell_labels(const Results& results) {
  std::vector<Labelled> all;
  for (const Run& run : results.runs()) {
    if (!results.study().simulated || !run.outcome || run.outcome->kind != Outcome::Kind::kRow) continue;
    const Row& row = run.outcome->row;
    all.push_back({run.trial.strategy, row.label.value_or(""), row.label_reason.value_or("")});
  }
  if (const std::string lines = reasons(all); !lines.empty()) print("\n{}", lines);
}

ExitStatus summarise(const Results& results, std::optional<int> signal, const std::string& folder) {
  const std::size_t rows = results.count(Outcome::Kind::kRow);
  const std::size_t failed = results.count(Outcome::Kind::kFailed);
  tell_checked(results);
  tell_unbounded(results);
  tell_labels(results);
  if (rows > 0) print("\n{0}/results.csv and {0}/results.json hold the results\n", folder);
  if (signal) {
    print_error("weir run: interrupted: {} of {} runs are done and written\n", results.ended(),
                results.runs().size());
    return 128 + *signal;
  }
  if (failed > 0) {
    print_error("weir run: {} of {} runs failed\n", failed, results.runs().size());
    return kExitFailed;
  }
  if (rows == 0) {
    print_error("weir run: none of the strategies is possible\n");
    return kExitFailed;
  }
  return kExitWell;
}

// All runs, until a signal comes; what has ended by then is in the files when this returns.
Result<std::optional<int>> run_all(const ExperimentFile& file, Results& results, ResultFiles& files,
                                   const World& world, int jobs) {
  const Signals signals;
  Scoreboard scoreboard(file, results);
  const Task task = [&](std::size_t index) { return text(run_one(file, results.runs()[index], world)); };
  const Ended ended = [&](std::size_t index, const Result<std::string>& text) {
    results.add(index, text ? outcome_from(*text) : Outcome{Outcome::Kind::kFailed, {}, text.error().text});
    files.update(results.runs()[index].point);
    scoreboard.update();
  };
  std::optional<int> signal = run_in_processes(results.runs().size(), jobs, task, ended, signals);
  const auto written = files.finish();
  scoreboard.finish();
  if (!written) return tl::unexpected(written.error());
  if (!signal) signal = signals.arrived();
  return signal;
}

Result<Ran> run_job(const Job& job, const RunChoices& choices, const World& world) {
  Results results(job.file, job.configuration, job.folder, world);
  if (choices.records) results.keep_records(job.folder);
  ResultFiles files(results, job.folder);
  if (const auto made = files.prepare(); !made) return tl::unexpected(made.error());

  introduce(job.configuration, results.runs().size(), job.folder);
  const auto signal = run_all(job.file, results, files, world, world.simulated ? choices.jobs : 1);
  if (!signal) return tl::unexpected(signal.error());
  Ran ran{summarise(results, *signal, job.folder), signal->has_value(),
          comparisons(job.file, job.configuration.first, results, job.name)};
  if (!ran.compared.empty()) {
    const auto written = files.write_published(csv(ran.compared));
    if (!written) return tl::unexpected(written.error());
  }
  if (*signal || choices.skip_plots || results.count(Outcome::Kind::kRow) == 0) return ran;
  const auto drawn = draw_plots(job.folder);
  if (!drawn) return tl::unexpected(drawn.error());
  if (!drawn->empty()) print("{}\n", *drawn);
  return ran;
}

// Tells how the results compare with what is published.
Result<ExitStatus> compare(const std::vector<Comparison>& all, const std::string& page) {
  if (!page.empty()) {
    const auto written = write_text(page, markdown(all));
    if (!written) return tl::unexpected(written.error());
  }
  if (all.empty()) return kExitWell;
  print("\n{}", text(all));
  const auto within =
      std::count_if(all.begin(), all.end(), [](const Comparison& one) { return one.within(); });
  print("\n{} of {} published values are met\n", within, all.size());
  return static_cast<std::size_t>(within) == all.size() ? kExitWell : kExitFailed;
}

Result<ExitStatus> run_experiments(const char* command, const RunChoices& choices) {
  // A reader of the table that leaves ends nothing but the table.
  std::signal(SIGPIPE, SIG_IGN);
  const auto streams = choices.input.streams();
  if (!streams) return wrong(command, streams.error());
  WorldOptions options = choices.world;
  take(*streams, options);
  const auto world = world_of(options);
  if (!world) return wrong(command, world.error());
  const auto jobs = jobs_of(choices);
  if (!jobs) return wrong(command, jobs.error());
  // A folder that is not there yet may be the run's own.
  if (!choices.page.empty() && fs::exists(fs::absolute(choices.page).parent_path())) {
    if (const auto open = check_writable(choices.page); !open) return tl::unexpected(open.error());
  }
  ExitStatus status = kExitWell;
  std::vector<Comparison> all;
  for (const Job& job : *jobs) {
    if (jobs->size() > 1) print("{}== {}\n", &job == &jobs->front() ? "" : "\n", job.name);
    const Configuration& configuration = job.configuration;
    tell_tuned_for_others(command, choices.input, configuration.first.strategies,
                          names(configuration.traces));
    auto ran = run_job(job, choices, *world);
    if (!ran) return tl::unexpected(ran.error());
    status = std::max(status, ran->status);
    if (ran->interrupted) return status;
    all.insert(all.end(), ran->compared.begin(), ran->compared.end());
  }
  auto compared = compare(all, choices.page);
  if (!compared) return compared;
  return std::max(status, *compared);
}

// The options of a command that runs experiments, here by default.
CLI::App* add_command(CLI::App& weir, ExitStatus& status, const char* name, const char* about,
                      const char* on) {
  CLI::App* command = weir.add_subcommand(name, about);
  const auto choices = std::make_shared<RunChoices>();
  choices->world.on = on;
  add_input(*command, choices->input);
  command
      ->add_option("--out", choices->out,
                   "The folder for results.csv, results.json, timelines and figures\n"
                   "(results/NAME if left out, NAME being that of the experiment)")
      ->check([](const std::string& folder) {
        return folder.empty() ? std::string("expected a folder, not nothing") : std::string();
      });
  command->add_option("--jobs", choices->jobs, "How many runs at once")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command
      ->add_option("--page", choices->page,
                   "A file for the comparison with published values, as tables in Markdown")
      ->type_name("FILE");
  command->add_flag("--no-plots", choices->skip_plots, "Draw no figures");
  command->add_flag(
      "--records", choices->records,
      "Keep the record of each run, which weir compare reads: when each op of each iteration was\n"
      "submitted, started and completed (24 bytes for these)");
  add_world(*command, choices->world, choices->world.on == "simulation");
  command->callback(
      [choices, name, &status] { status = exit_status(name, run_experiments(name, *choices)); });
  return command;
}

}  // namespace

void add_run(CLI::App& weir, ExitStatus& status) {
  CLI::App* command =
      add_command(weir, status, "run", "Compares strategies on a cluster, simulated or real", "simulation");
  command->footer(
      "Every combination of swept values is run with every strategy and every seed, each in a process of its "
      "own.\n"
      "The table shows for each: the time of an iteration, what of it is communication that no computation "
      "hides,\n"
      "the bytes of the model over the time of communication, what no schedule could beat on this cluster "
      "and how\n"
      "near the run comes to it, the speed-up over the baseline, and the resource that binds the strategy's "
      "plan.\n"
      "Runs of the strategies in 'timelines' are drawn, for chrome://tracing and https://ui.perfetto.dev. A "
      "folder without\n"
      "experiment.json is a suite: all experiments below it are run. What a publication reports for an "
      "experiment stands\n"
      "in a table at the end; the exit status is 0 only if all of it is met.\n\n"
      "Examples:\n"
      "  weir run experiments/quickstart\n"
      "  weir run experiments/quickstart --set topology.groups.cpu.count=4 --set partition_size=1MB\n"
      "  weir run experiments/quickstart --set 'timelines=[\"unified\", \"ring\"]'\n"
      "  weir run mine.json --out /tmp/mine --jobs 1 --set 'strategies=[\"unified\", \"ring\"]'");
}

void add_launch(CLI::App& weir, ExitStatus& status) {
  CLI::App* command = add_command(
      weir, status, "launch", "Runs experiments on the hosts of a cluster: weir run --on cluster", "cluster");
  command->footer(
      "Starts a node on each host of a file by ssh, and ends with all of them. weir run --help tells what "
      "all "
      "options do.\n\n"
      "Example:\n"
      "  weir launch mine.json --hosts hosts.txt --listen 10.0.0.1");
}

}  // namespace weir
