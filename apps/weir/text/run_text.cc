#include "apps/weir/text/run_text.h"

#include <algorithm>
#include <optional>

#include "apps/weir/text/output.h"
#include "studies/run/labels.h"

namespace weir {
namespace {

// Counts only checks that passed: a run with a wrong sum has failed.
void print_checked(const Results& results) {
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

// Machines that share memory do not use the links, so they may be faster than the links' bound.
void print_unbounded(const Results& results) {
  const auto unbounded = [](const Run& run) {
    return run.outcome && run.outcome->kind == Outcome::Kind::kRow && !run.outcome->row.bound_percent;
  };
  if (std::any_of(results.runs().begin(), results.runs().end(), unbounded))
    print("\n'of bound' is not known: bounds are for the topology's links, but machines shared memory\n");
}

void print_labels(const Results& results) {
  std::vector<Labelled> all;
  for (const Run& run : results.runs()) {
    if (!results.study().simulated || !run.outcome || run.outcome->kind != Outcome::Kind::kRow) continue;
    const Row& row = run.outcome->row;
    all.push_back({run.trial.strategy, row.label.value_or(""), row.label_reason.value_or("")});
  }
  if (const std::string lines = reasons(all); !lines.empty()) print("\n{}", lines);
}

}  // namespace

void introduce_run(const Configuration& configuration, std::size_t runs, const std::string& folder) {
  const Experiment& experiment = configuration.first;
  if (!experiment.question.empty()) print("{}\n", experiment.question);
  print("{} on {}: {} {}, speed-ups over {}, into {}\n\n", names(configuration.traces),
        names(configuration.topologies), runs, runs == 1 ? "run" : "runs", experiment.baseline, folder);
  std::fflush(stdout);
}

std::string measured_rates(const Results& results) {
  std::optional<double> most;
  for (const Run& run : results.runs()) {
    if (!run.outcome || !run.outcome->row.link_rate_difference) continue;
    most = std::max(most.value_or(0.0), *run.outcome->row.link_rate_difference);
  }
  if (!most) return {};
  return fmt::format(
      "bounds use the faster of the rates measured before and after each run; links differed by up to {:.1f} "
      "%\n",
      100 * *most);
}

std::string below_bound(const Results& results) {
  constexpr double kShown = 100.05;  // a table rounds it to more than 100.0 %
  const auto below = [](const Run& run) {
    return run.outcome && run.outcome->kind == Outcome::Kind::kRow &&
           run.outcome->row.bound_percent.value_or(0.0) >= kShown;
  };
  if (std::none_of(results.runs().begin(), results.runs().end(), below)) return {};
  const char* const why =
      results.study().simulated
          ? "bounds are for the trace's times, but jitter may shorten computation"
          : "bounds are for the trace's times and the rates measured with the run (on a cluster, the "
            "topology's); links or computation were faster than these say, or options let the run use them "
            "better";
  return fmt::format("'of bound' above 100 %: the run ended below its bound; {}\n", why);
}

ExitStatus conclude_run(const Results& results, std::optional<int> signal, const std::string& folder) {
  const std::size_t rows = results.count(Outcome::Kind::kRow);
  const std::size_t failed = results.count(Outcome::Kind::kFailed);
  print_checked(results);
  print_unbounded(results);
  if (const std::string note = measured_rates(results); !note.empty()) print("\n{}", note);
  if (const std::string note = below_bound(results); !note.empty()) print("\n{}", note);
  print_labels(results);
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

ExitStatus show_published(const std::vector<Comparison>& all) {
  if (all.empty()) return kExitWell;
  print("\n{}", text(all));
  const auto within =
      std::count_if(all.begin(), all.end(), [](const Comparison& one) { return one.within(); });
  print("\n{} of {} published values are met\n", within, all.size());
  return static_cast<std::size_t>(within) == all.size() ? kExitWell : kExitFailed;
}

}  // namespace weir
