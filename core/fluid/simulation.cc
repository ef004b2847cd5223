#include "core/fluid/simulation.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/base/random.h"
#include "core/base/units_text.h"
#include "core/fluid/physics.h"
#include "core/fluid/redundant_links.h"
#include "core/fluid/traffic.h"
#include "core/run/node.h"

namespace weir {
namespace {

// Changes of links that come again and again end when nothing else has happened for so long, not even a
// change that comes once.
constexpr Duration kLongestStandstill{3'600'000'000'000};

// By path: no other flow ever slows its flows down, as all of its links but the cores of a NUMA node, which
// serve one op at a time, let through whatever comes. So are sums where memory has room for all traffic.
std::vector<bool> steady_paths(const Plan& plan, const Cluster& cluster, std::span<const Path> paths,
                               const std::vector<bool>& varies) {
  const auto is_sum = [&](const LinkUse& use) {
    return cluster.link(use.link).kind == Link::Kind::kSum && !varies[use.link.index()];
  };
  std::vector<bool> steady;
  bool known = true;
  for (const Path& path : paths) {
    steady.push_back(std::all_of(path.begin(), path.end(), is_sum));
    known = known && (steady.back() || std::none_of(path.begin(), path.end(), is_sum));
  }
  if (known) return steady;
  const std::vector<bool> redundant = redundant_links(reached_rates(plan, cluster), paths, varies);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    steady[i] = std::all_of(paths[i].begin(), paths[i].end(),
                            [&](const LinkUse& use) { return is_sum(use) || redundant[use.link.index()]; });
  }
  return steady;
}

// By link: whether its rate may change while the plan runs.
std::vector<bool> varying_links(const Circumstances& circumstances, std::size_t links) {
  std::vector<bool> varies;
  for (std::size_t i = 0; i < links; ++i) varies.push_back(circumstances.varies(LinkId(i)));
  return varies;
}

class World;

// One machine's door to the simulated world.
class FluidPort final : public Port {
 public:
  explicit FluidPort(World& world) : world_(&world) {}
  Instant now() const override { return now_; }
  void submit(const Op& op) override;
  void poll(std::vector<Completion>& out) override;

  std::vector<Completion> inbox;

 private:
  World* world_;
  Instant now_;
};

class World {
 public:
  World(const Plan& plan, const Cluster& cluster, const SimulationSettings& settings, Engine& engine,
        const Observer& observer)
      : plan_(plan),
        settings_(settings),
        cluster_(cluster),
        engine_(engine),
        observer_(observer),
        circumstances_(settings.conditions, cluster),
        varies_(varying_links(circumstances_, cluster.links().size())),
        works_(plan, cluster),
        traffic_(plan, works_, settings.dispatch, settings.model),
        physics_(plan, cluster, works_, engine.precision()),
        steady_(steady_paths(plan, cluster, works_.paths(), varies_)),
        record_(plan.ops().size(), settings.iterations),
        runs_(settings.model.compute_jitter > 0 || settings.conditions.jitter() ? plan.ops().size() : 0, 0),
        messages_(cluster.links().size(), 0) {
    for (std::size_t i = 0; i < plan.machines(); ++i) {
      nodes_.emplace_back(plan, MachineId(i), settings.iterations, record_);
      ports_.push_back(std::make_unique<FluidPort>(*this));
      awake_.push_back(i);
    }
  }

  Result<Record> run() {
    const Result<void> set = engine_.set_paths(works_.paths(), varies_);
    if (!set) return tl::unexpected(set.error());
    const Result<void> end =
        engine_.run([this] { begin(); }, [this](std::span<const std::uint32_t> ended) { instant(ended); });
    if (failed_) return failure(failed_text());
    if (!end) return tl::unexpected(end.error());
    if (expired_) {
      return failure(
          fmt::format("the run takes more than {} of simulated time, the most that is counted to the "
                      "nanosecond; try fewer iterations, higher rates or shorter layers",
                      text(kLongestRun)));
    }
    for (const Node& node : nodes_) {
      if (!node.finished()) return failure(stuck());
    }
    if (const Result<void> verdict = physics_.verdict(settings_.iterations); !verdict) {
      return tl::unexpected(verdict.error());
    }
    return std::move(record_);
  }

  Instant now() const { return Instant::from_seconds(engine_.seconds()); }

  void submit(const Op& op) { traffic_.submit(op, hold_factor(op)); }

 private:
  void begin() {
    change_links();
    pump();
  }

  void instant(std::span<const std::uint32_t> ended) {
    expired_ = expired_ || engine_.seconds() > kLongestRun.seconds();
    if (expired_ || failed_) return;  // nothing more starts, so the engine comes to its end
    for (const std::uint32_t id : ended) {
      if (id == plan_.ops().size()) {
        change_links();
        continue;
      }
      progress_ = now();
      const OpId op(id);
      if (in_flow(op)) {
        physics_.flow_ended(op, engine_.seconds());
        count_message(op, -1);
      }
      traffic_.advance(op);
    }
    pump();
  }

  // Gives the links the rates that they have from now on, and sees to it that this is called again when they
  // change, unless nothing has happened for so long that nothing will.
  void change_links() {
    const Instant at = now();
    const auto& failure = circumstances_.failure();
    const bool done =
        std::all_of(nodes_.begin(), nodes_.end(), [](const Node& node) { return node.finished(); });
    failed_ = failure && failure->second <= at && !done;
    if (failed_ || done) return;
    for (const LinkId link : circumstances_.changing()) scale(link);
    if (at - std::max(progress_, circumstances_.once_over()) > kLongestStandstill) return;
    std::optional<Instant> next = circumstances_.next_change(at);
    if (failure && failure->second > at && (!next || failure->second < *next)) next = failure->second;
    if (next) engine_.start_timer(static_cast<std::uint32_t>(plan_.ops().size()), *next - at);
  }

  void scale(LinkId link) {
    const double factor = circumstances_.factor(link, messages_[link.index()], now());
    engine_.scale_link(link, factor);
    physics_.link_scaled(link, factor, engine_.seconds());
  }

  // One more message, or one less, comes in through the NIC.
  void count_message(OpId op, int more) {
    if (plan_.op(op).kind != OpKind::kSend) return;
    for (const LinkUse& use : works_.paths()[static_cast<std::size_t>(works_.of(op).path)]) {
      if (!circumstances_.receives(use.link)) continue;
      messages_[use.link.index()] += more;
      scale(use.link);
    }
  }

  std::string failed_text() const {
    const auto [machine, at] = *circumstances_.failure();
    return fmt::format("{} fails at {}, and no strategy goes on without one of its machines",
                       cluster_.machine(machine).name, text(at - Instant()));
  }

  bool in_flow(OpId op) {
    const bool flowing = !flowing_.empty() && flowing_[op.index()];
    if (flowing) flowing_[op.index()] = false;
    return flowing;
  }

  // Follows up everything that happens at this instant: what completes, what nodes submit then, what takes no
  // time at all; devices, and last of all NICs, choose what to start when nothing more can become ready.
  void pump() {
    do {
      do {
        settle();
      } while (traffic_.serve_devices(now()));
    } while (traffic_.serve_nics(now()));
  }

  void settle() {
    act();
    while (!awake_.empty() || !ended_at_once_.empty()) {
      advancing_.swap(ended_at_once_);
      for (const OpId op : advancing_) traffic_.advance(op);
      advancing_.clear();
      std::sort(awake_.begin(), awake_.end());
      pumping_.swap(awake_);
      for (const std::size_t i : pumping_) nodes_[i].pump(*ports_[i]);
      pumping_.clear();
      act();
    }
  }

  void act() {
    std::vector<Action>& actions = traffic_.actions();
    for (const Action& action : actions) {
      const Op& op = plan_.op(action.op);
      switch (action.kind) {
        case Action::Kind::kTimer:
          if (action.duration == Duration(0)) {
            ended_at_once_.push_back(action.op);
          } else {
            engine_.start_timer(action.op.value(),
                                circumstances_.stretched(op.machine, now(), action.duration));
          }
          break;
        case Action::Kind::kFlow:
          if (flowing_.empty()) flowing_.assign(plan_.ops().size(), false);
          flowing_[action.op.index()] = true;
          physics_.flow_started(action.op, engine_.seconds());
          start_flow(action.op);
          break;
        case Action::Kind::kComplete:
          if (observer_) observer_(op);
          deliver(op);
          if (op.kind == OpKind::kSend) deliver(plan_.op(plan_.messages()[op.message.index()].receive));
          break;
      }
    }
    actions.clear();
  }

  void start_flow(OpId op) {
    const Work& work = works_.of(op);
    if (steady_[static_cast<std::size_t>(work.path)]) {
      engine_.start_timer(op.value(), works_.flow_time(op));
    } else {
      engine_.start_flow(op.value(), work.path, burden(plan_.op(op), work.size));
      count_message(op, 1);
    }
  }

  // The bytes that take as long as the op's: of a message that begins within a page of host memory more.
  Bytes burden(const Op& op, Bytes size) const {
    const double efficiency = settings_.model.unaligned_efficiency;
    if (efficiency == 1.0 || op.kind != OpKind::kSend) return size;
    const auto on_page = [&](const Slice& slice) {
      return plan_.buffer(slice.buffer).place == Memory::Kind::kGpu ||
             slice.offset.count() % kPage.count() == 0;
    };
    const Op& receive = plan_.op(plan_.messages()[op.message.index()].receive);
    if (on_page(op.from) && on_page(receive.into)) return size;
    return Bytes(std::llround(static_cast<double>(size.count()) / efficiency));
  }

  void deliver(const Op& op) {
    std::vector<Completion>& inbox = ports_[op.machine.index()]->inbox;
    if (inbox.empty()) awake_.push_back(op.machine.index());
    inbox.push_back({op.id, traffic_.started(op.id), now()});
  }

  // Compute times vary as the seed says, by machine, layer and iteration; not by op, so that they are the
  // same whatever the strategy and runs with one seed can be compared.
  double hold_factor(const Op& op) {
    if (!is_compute(op.kind)) return 1.0;
    const std::uint64_t run = runs_.empty() ? 0 : runs_[op.id.index()]++;
    Random random = Random(settings_.model.seed)
                        .split(op.machine.value())
                        .split(static_cast<std::uint64_t>(op.kind))
                        .split(static_cast<std::uint64_t>(op.layer))
                        .split(run);
    return circumstances_.compute_factor(op.machine, settings_.model.compute_jitter, random);
  }

  std::string stuck() const {
    std::string text = "the run is stuck: nothing moves any more, and these ops wait:";
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      for (const OpId id : nodes_[i].outstanding(2)) {
        const Op& op = plan_.op(id);
        text += fmt::format(" op {} ({} on machine {}{});", id, name(op.kind), op.machine,
                            is_message(op.kind) ? fmt::format(", for machine {}", op.peer) : "");
      }
    }
    return text;
  }

  const Plan& plan_;
  SimulationSettings settings_;
  const Cluster& cluster_;
  Engine& engine_;
  const Observer& observer_;
  Circumstances circumstances_;
  std::vector<bool> varies_;  // by link
  WorkTable works_;
  Traffic traffic_;
  Physics physics_;
  std::vector<bool> steady_;  // by path: a timer will do for its flows
  Record record_;
  std::vector<std::uint64_t> runs_;  // per compute op, how often it was submitted; for the jitter
  std::vector<bool> flowing_;        // per op
  std::vector<int> messages_;        // by link: that come in through it, where that matters
  Instant progress_;                 // when something ended last
  bool failed_ = false;              // a machine
  bool expired_ = false;
  std::vector<Node> nodes_;
  std::vector<std::unique_ptr<FluidPort>> ports_;
  std::vector<std::size_t> awake_;    // nodes with something to do at this instant
  std::vector<OpId> ended_at_once_;   // ops whose timers had no length
  std::vector<std::size_t> pumping_;  // what settle() takes from awake_, and
  std::vector<OpId> advancing_;       // from ended_at_once_
};

void FluidPort::submit(const Op& op) { world_->submit(op); }

void FluidPort::poll(std::vector<Completion>& out) {
  now_ = world_->now();
  std::sort(inbox.begin(), inbox.end(), [](const Completion& a, const Completion& b) { return a.op < b.op; });
  out.insert(out.end(), inbox.begin(), inbox.end());
  inbox.clear();
}

}  // namespace

Result<Record> simulate(const Plan& plan, const Cluster& cluster, const SimulationSettings& settings,
                        Engine& engine, const Observer& observer) {
  WEIR_CHECK(plan.machines() == cluster.machines().size(), plan.machines(), cluster.machines().size());
  return World(plan, cluster, settings, engine, observer).run();
}

}  // namespace weir
