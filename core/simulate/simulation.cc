#include "core/simulate/simulation.h"

#include <algorithm>
#include <memory>

#include "core/base/units_text.h"
#include "core/simulate/engines/fluid_engine.h"
#include "core/simulate/folding.h"

namespace weir {
namespace {

// Repeating changes of links stop when nothing else has happened for this long, not even a change that occurs
// once.
constexpr Duration kLongestStandstill{3'600'000'000'000};

// In longer runs, sums of many doubles may separate events that belong to one instant. At this time the
// resolution of doubles is still a tenth of what engines count as one instant.
constexpr Duration kLongestFolded{1'000'000'000'000};

// The jobs and their common time. The first job is the one that is measured.
class World {
 public:
  World(const Cluster& cluster, std::span<const Job> jobs, int iterations, const Conditions& conditions,
        Engine& engine, const Observer& observer)
      : cluster_(cluster),
        engine_(engine),
        network_(cluster, conditions, reached_rates(cluster, jobs), engine) {
    for (const Job& job : jobs) {
      first_ids_.push_back(change_);
      jobs_.push_back(jobs_.empty()
                          ? std::make_unique<SimulatedJob>(job, iterations, change_, network_, observer)
                          : std::make_unique<SimulatedJob>(job, change_, network_));
      change_ += jobs_.back()->ids();
    }
    const auto works = [&](MachineId machine) {
      return std::ranges::any_of(jobs, [&](const Job& job) { return works_on(job, machine); });
    };
    for (const auto& one : network_.circumstances().failures()) {
      if (!failure_ && works(one.first)) failure_ = one;
    }
    own_failure_ = failure_ && works_on(jobs.front(), failure_->first);
  }

  Result<SharedRun> run() {
    if (const Result<void> set = set_paths(); !set) return tl::unexpected(set.error());
    const Result<void> end =
        engine_.run([this] { begin(); }, [this](std::span<const std::uint32_t> ended) { instant(ended); });
    SimulatedJob& first = *jobs_.front();
    if (failed_) return failure(failed_text());
    if (!end) return tl::unexpected(end.error());
    if (expired_) {
      return failure(
          fmt::format("the run takes more than {} of simulated time, the longest that is counted to the "
                      "nanosecond; try fewer iterations, higher rates or shorter layers",
                      text(kLongestRun)));
    }
    if (!first.finished()) return failure(first.stuck_text());
    if (!verdict_) return tl::unexpected(verdict_.error());
    SharedRun result{std::move(first.record()), {}, first.tied()};
    for (std::size_t i = 1; i < jobs_.size(); ++i) result.ends.push_back(jobs_[i]->ends());
    return result;
  }

 private:
  static bool works_on(const Job& job, MachineId machine) {
    const std::vector<MachineId>& machines = job.subcluster.machines;
    const auto at = std::ranges::find(machines, machine);
    return at != machines.end() &&
           !job.plan.ops(MachineId(static_cast<std::size_t>(at - machines.begin()))).empty();
  }

  Result<void> set_paths() {
    std::vector<Paths> paths;
    int first = 0;
    for (const auto& job : jobs_) {
      job->set_first_path(first);
      first += static_cast<int>(paths.emplace_back(job->paths()).size());
    }
    return network_.set_paths(std::move(paths));
  }

  SimulatedJob& job_of(std::uint32_t op) {
    const auto next = std::upper_bound(first_ids_.begin(), first_ids_.end(), op);
    return *jobs_[static_cast<std::size_t>(next - first_ids_.begin()) - 1];
  }

  // The world's own timers have the ids after those of all ops: first changes of links, then starts of jobs.
  std::uint32_t start_of(std::size_t job) const { return change_ + 1 + static_cast<std::uint32_t>(job); }

  void begin() {
    change_links();
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      if (jobs_[i]->start() > Duration(0)) {
        engine_.start_timer(start_of(i), jobs_[i]->start());
      } else {
        jobs_[i]->begin();
      }
    }
    pump();
  }

  void instant(std::span<const std::uint32_t> ended) {
    if (expired_ || over_) return;  // nothing more starts, so the engine comes to an end
    expired_ = engine_.seconds() > kLongestRun.seconds();
    if (expired_) return;
    if (const auto next = engine_.coming(); next && *next < change_) job_of(*next).prefetch_ahead(*next);
    for (const std::uint32_t id : ended) {
      if (id < change_) job_of(id).prefetch(id);
    }
    for (const std::uint32_t id : ended) {
      if (id > change_) {
        jobs_[id - change_ - 1]->begin();
      } else if (id == change_) {
        change_links();
      } else {
        job_of(id).advance(id);
      }
    }
    if (!over_) pump();
  }

  void pump() {
    for (const auto& job : jobs_) job->pump();
    const SimulatedJob& first = *jobs_.front();
    if (!first.finished() && !first.stuck()) return;
    over_ = true;
    verdict_ = verdict();
    network_.restore();
  }

  // Sets the links' current rates, and a timer for the next change. It sets none if nothing has happened for
  // so long that nothing will.
  void change_links() {
    const Instant at = network_.now();
    const Circumstances& met = network_.circumstances();
    failed_ = failure_ && failure_->second <= at;
    over_ = over_ || failed_;
    if (over_) return;
    network_.change();
    if (at - std::max(jobs_.front()->progress(), met.once_over()) > kLongestStandstill) {
      over_ = jobs_.size() > 1 && network_.down();  // the other jobs might continue forever
      return;
    }
    std::optional<Instant> next = met.next_change(at);
    if (failure_ && (!next || failure_->second < *next)) next = failure_->second;
    if (next) engine_.start_timer(change_, *next - at);
  }

  Result<void> verdict() const {
    if (Result<void> obeyed = network_.verdict(); !obeyed) return obeyed;
    for (const auto& job : jobs_) {
      if (Result<void> moved = job->verdict(); !moved) return moved;
    }
    return {};
  }

  std::string failed_text() const {
    const auto [machine, at] = *failure_;
    return fmt::format("{} fails at {}, and no strategy can continue without one of its machines{}",
                       cluster_.machine(machine).name, text(at - Instant()),
                       own_failure_ ? "" : ": here one of another job");
  }

  const Cluster& cluster_;
  Engine& engine_;
  Network network_;
  std::vector<std::unique_ptr<SimulatedJob>> jobs_;
  std::vector<std::uint32_t> first_ids_;  // by job: its first id
  std::uint32_t change_ = 0;              // the id of the timer of the next change of links
  bool over_ = false;
  std::optional<std::pair<MachineId, Instant>> failure_;  // the first failure of a machine with work
  bool own_failure_ = false;                              // whether the machine belongs to the first job
  bool failed_ = false;                                   // whether the failure has happened
  bool expired_ = false;
  Result<void> verdict_;
};

// Network::steady() by path, for a job that has the cluster to itself.
std::vector<bool> steady_paths(const Cluster& cluster, const Job& job) {
  const std::vector<double> rates = reached_rates(cluster, {&job, 1});
  FluidEngine engine(rates);
  Network network(cluster, {}, rates, engine);
  WEIR_CHECK(network.set_paths({job.works->paths()}).has_value());
  std::vector<bool> steady(job.works->paths().size());
  for (std::size_t i = 0; i < steady.size(); ++i) steady[i] = network.steady(static_cast<int>(i));
  return steady;
}

// Whether each flow of a job is a timer exactly if the flow that represents it in the other job is one;
// timers last whole nanoseconds. `by`: for each op of the job, the op of the other.
bool as_steady(const Cluster& cluster, const Job& job, const Job& other, const std::vector<OpId>& by) {
  const std::vector<bool> ours = steady_paths(cluster, job);
  const std::vector<bool> theirs = steady_paths(cluster, other);
  const auto at = [](const std::vector<bool>& steady) {
    return [&steady](int path) { return steady[static_cast<std::size_t>(path)]; };
  };
  return std::ranges::all_of(job.plan.ops(), [&](const Op& op) {
    const Work& work = job.works->of(op.id);
    return work.path == Work::kNoPath ||
           std::ranges::equal(job.works->strands(work),
                              other.works->strands(other.works->of(by[op.id.index()])), {}, at(ours),
                              at(theirs));
  });
}

}  // namespace

Result<Record> simulate(const Plan& plan, const Cluster& cluster, const SimulationSettings& settings,
                        Engine& engine, const Observer& observer) {
  const Subcluster all(cluster);
  const Job job{plan, all, settings.dispatch, settings.model, {}};
  Result<SharedRun> run =
      simulate(cluster, {&job, 1}, settings.iterations, settings.conditions, engine, observer);
  if (!run) return tl::unexpected(run.error());
  return std::move(run->record);
}

Result<SharedRun> simulate(const Cluster& cluster, std::span<const Job> jobs, int iterations,
                           const Conditions& conditions, Engine& engine, const Observer& observer) {
  for (const Job& job : jobs)
    WEIR_CHECK(job.plan.machines() == job.subcluster.machines.size(), job.plan.machines(),
               job.subcluster.machines.size());
  return World(cluster, jobs, iterations, conditions, engine, observer).run();
}

std::optional<SharedRun> simulate_folded(const Cluster& cluster, const Job& job, int iterations,
                                         const Conditions& conditions) {
  WEIR_CHECK(job.brings_works());
  const bool alike = job.model.compute_jitter == 0.0 && job.model.unaligned_efficiency == 1.0 &&
                     conditions.none() && job.subcluster.machines.size() == cluster.machines().size();
  if (!alike) return std::nullopt;
  const std::optional<Folding> folding = fold(job.plan, cluster, *job.works);
  if (!folding) return std::nullopt;
  const Job folded{*folding->plan, job.subcluster, job.dispatch, job.model, job.start, folding->works.get()};
  if (!as_steady(cluster, job, folded, folding->by)) return std::nullopt;
  FluidEngine engine(reached_rates(cluster, {&folded, 1}));
  Result<SharedRun> run = simulate(cluster, {&folded, 1}, iterations, conditions, engine);
  if (!run || run->tied || engine.seconds() > kLongestFolded.seconds()) return std::nullopt;
  run->record = folding->unfold(run->record);
  return std::move(*run);
}

std::vector<double> reached_rates(const Cluster& cluster, std::span<const Job> jobs) {
  std::vector<double> rates;
  for (const Link& link : cluster.links()) rates.push_back(static_cast<double>(link.rate.value()));
  for (const Job& job : jobs) {
    for (const MachineId machine : job.subcluster.cluster.gpu_machines()) {
      const MachineId whole = job.subcluster.machines[machine.index()];
      for (const Nic& nic : cluster.machine(whole).nics) {
        for (const LinkId link : {nic.out, nic.in})
          rates[link.index()] = static_cast<double>(reached_rate(job.plan, cluster.link(link)).value());
      }
    }
  }
  return rates;
}

}  // namespace weir
