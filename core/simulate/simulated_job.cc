#include "core/simulate/simulated_job.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "core/base/random.h"

namespace weir {
namespace {

const Observer kNobody;

}  // namespace

// One machine's Port in the simulated world.
class SimulatedJob::Door final : public Port {
 public:
  explicit Door(SimulatedJob& job) : job_(&job) {}
  Instant now() const override { return now_; }
  void submit(const Op& op) override { job_->submit(op); }
  void poll(std::vector<Completion>& out) override {
    now_ = job_->network_.now();
    std::sort(inbox.begin(), inbox.end(),
              [](const Completion& a, const Completion& b) { return a.op < b.op; });
    out.insert(out.end(), inbox.begin(), inbox.end());
    inbox.clear();
  }

  std::vector<Completion> inbox;

 private:
  SimulatedJob* job_;
  Instant now_;
};

SimulatedJob::SimulatedJob(const Job& job, int iterations, std::uint32_t first_id, Network& network,
                           const Observer& observer)
    : SimulatedJob(job, iterations, true, first_id, network, observer) {}

SimulatedJob::SimulatedJob(const Job& job, std::uint32_t first_id, Network& network)
    : SimulatedJob(job, std::numeric_limits<int>::max(), false, first_id, network, kNobody) {}

SimulatedJob::SimulatedJob(const Job& job, int iterations, bool recorded, std::uint32_t first_id,
                           Network& network, const Observer& observer)
    : job_(job),
      plan_(job.plan),
      iterations_(iterations),
      first_id_(first_id),
      network_(network),
      observer_(observer),
      own_works_(job.brings_works() ? nullptr
                                    : std::make_unique<const WorkTable>(plan_, job.subcluster.cluster,
                                                                        job.model.collectives)),
      works_(own_works_ ? *own_works_ : *job.works),
      dispatcher_(plan_, works_, job.dispatch, job.model),
      carried_(works_.paths()),
      record_(recorded ? Record(plan_.ops().size(), iterations) : Record()),
      runs_(plan_.ops().size(), 0),
      flowing_(plan_.ops().size(), 0) {
  if (job.model.collectives == Collectives::kPerGpu) number_strands();
  if (job.model.collective_overhead > Duration(0)) count_collectives();
  for (const Op& op : plan_.ops()) forwards_ += takes_sums(op.kind) ? 1 : 0;
  for (std::size_t i = 0; i < plan_.machines(); ++i) {
    if (recorded) {
      nodes_.emplace_back(plan_, MachineId(i), iterations, record_);
    } else {
      nodes_.emplace_back(plan_, MachineId(i), iterations, Rounds::kTogether);
    }
    doors_.push_back(std::make_unique<Door>(*this));
  }
}

SimulatedJob::~SimulatedJob() = default;

Paths SimulatedJob::paths() const {
  Paths paths = works_.paths();
  for (LinkUse& use : paths.uses()) use.link = job_.subcluster.links[use.link.index()];
  return paths;  // still in order of id: a subcluster keeps the order of the whole cluster's links
}

void SimulatedJob::begin() {
  begun_ = true;
  for (std::size_t i = 0; i < nodes_.size(); ++i) awake_.push_back(i);
}

void SimulatedJob::number_strands() {
  std::uint32_t next = ops();
  for (const Op& op : plan_.ops()) {
    strand_ids_.push_back(next);
    const Work& work = works_.of(op.id);
    if (work.strands != Work::kOneFlow) next += static_cast<std::uint32_t>(works_.strands(work).size());
  }
  strand_ids_.push_back(next);
}

void SimulatedJob::prefetch(std::uint32_t id) const {
  if (id - first_id_ >= ops()) return;  // one of several flows of an op
  const OpId op(id - first_id_);
  const Op& of_plan = plan_.op(op);
  __builtin_prefetch(&of_plan.id);
  __builtin_prefetch(&of_plan.duration);
  works_.prefetch(op);
  dispatcher_.prefetch(op);
  nodes_[of_plan.machine.index()].prefetch(op);
}

void SimulatedJob::prefetch_ahead(std::uint32_t id) const {
  network_.prefetch(id);
  if (id - first_id_ >= ops()) return;  // one of several flows of an op
  const OpId op(id - first_id_);
  const Op& of_plan = plan_.op(op);
  __builtin_prefetch(&of_plan.id);
  __builtin_prefetch(&of_plan.duration);
  __builtin_prefetch(&flowing_[op.index()]);
  works_.prefetch(op);
  dispatcher_.prefetch(op);
}

// Prefetches for a message that will complete after its latency. Each step reads memory whose address is
// stored in the memory of the step before. So each message does one step at a time, as later messages arrive
// here.
void SimulatedJob::expect(const Op& send) {
  const OpId oldest = expected_[next_expected_];
  expected_[next_expected_] = send.id;
  next_expected_ = (next_expected_ + 1) % expected_.size();
  for (const auto& [op, machine] : ends(send.id)) {
    __builtin_prefetch(&plan_.op(op).id);
    plan_.prefetch_successors(op);
    dispatcher_.prefetch(op);
    nodes_[machine.index()].prefetch(op);
  }
  if (!oldest.valid()) return;
  const OpId between = expected_[(next_expected_ + expected_.size() / 2) % expected_.size()];
  for (const auto& [op, machine] : ends(between)) __builtin_prefetch(plan_.successors(op).data());
  for (const auto& [op, machine] : ends(oldest)) {
    for (const Successor successor : plan_.successors(op)) {
      const OpId next(static_cast<std::size_t>(successor.op));
      __builtin_prefetch(&plan_.op(next).id);
      works_.prefetch(next);
      dispatcher_.prefetch(next);
      nodes_[machine.index()].prefetch(next);
    }
  }
}

// The message's ends, and their machines.
std::array<std::pair<OpId, MachineId>, 2> SimulatedJob::ends(OpId send) const {
  const Op& op = plan_.op(send);
  return {{{send, op.machine}, {plan_.messages()[op.message.index()].receive, op.peer}}};
}

void SimulatedJob::advance(std::uint32_t id) {
  progress_ = network_.now();
  --running_;
  const std::uint32_t local = id - first_id_;
  OpId op(local);
  std::size_t strand = 0;
  if (local >= ops()) {
    // Finds the last op whose first id is not beyond this one. Ops without ids of their own share their first
    // id with the next op, and come before it.
    const auto after = std::upper_bound(strand_ids_.begin(), strand_ids_.end(), local);
    op = OpId(static_cast<std::size_t>(after - strand_ids_.begin()) - 1);
    strand = local - strand_ids_[op.index()];
  }
  if (flowing_[op.index()] > 0) {
    end_flow(plan_.op(op), strand);
    if (--flowing_[op.index()] > 0) return;
  }
  dispatcher_.advance(op);
}

void SimulatedJob::end_flow(const Op& op, std::size_t i) {
  const Work& work = works_.of(op.id);
  network_.end(flow(op, i), work.size);
  carried_.add(works_.strands(work)[i], work.size);
}

void SimulatedJob::pump() {
  dispatcher_.begin_instant(network_.now());
  do {
    do {
      settle();
    } while (dispatcher_.serve_devices());
  } while (dispatcher_.serve_nics());
}

void SimulatedJob::settle() {
  act();
  while (!awake_.empty() || !ended_at_once_.empty()) {
    advancing_.swap(ended_at_once_);
    for (const OpId op : advancing_) dispatcher_.advance(op);
    advancing_.clear();
    std::sort(awake_.begin(), awake_.end());
    pumping_.swap(awake_);
    for (const std::size_t i : pumping_) nodes_[i].pump(*doors_[i]);
    pumping_.clear();
    act();
  }
}

void SimulatedJob::act() {
  std::vector<Action>& actions = dispatcher_.actions();
  for (const Action& action : actions) {
    const Op& op = plan_.op(action.op);
    switch (action.kind) {
      case Action::Kind::kTimer:
        if (op.kind == OpKind::kSend) expect(op);
        start_timer(op, action.duration);
        break;
      case Action::Kind::kFlow:
        start_flow(op);
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

void SimulatedJob::start_timer(const Op& op, Duration duration) {
  if (duration == Duration(0)) return ended_at_once_.push_back(op.id);
  ++running_;
  const Circumstances& met = network_.circumstances();
  network_.start_timer(first_id_ + op.id.value(), met.stretched(whole(op.machine), network_.now(), duration));
}

void SimulatedJob::start_flow(const Op& op) {
  const Work& work = works_.of(op.id);
  const std::span<const int> strands = works_.strands(work);
  running_ += strands.size();
  flowing_[op.id.index()] = static_cast<std::uint16_t>(strands.size());
  for (std::size_t i = 0; i < strands.size(); ++i) {
    const Network::Flow begun = flow(op, i);
    const Duration alone =
        network_.steady(begun.path) ? works_.flow_time(strands[i], work.size) : Duration(0);
    network_.start(begun, burden(op, work.size), alone);
  }
}

Network::Flow SimulatedJob::flow(const Op& op, std::size_t i) const {
  const Work& work = works_.of(op.id);
  const bool one = work.strands == Work::kOneFlow;
  const std::uint32_t id = one ? op.id.value() : strand_ids_[op.id.index()] + static_cast<std::uint32_t>(i);
  return {first_id_ + id, first_path_ + works_.strands(work)[i], op.kind == OpKind::kSend};
}

// The size that takes the engine as long as the op takes. It is larger than the op's size for messages that
// do not begin on a page of host memory.
Bytes SimulatedJob::burden(const Op& op, Bytes size) const {
  const double efficiency = job_.model.unaligned_efficiency;
  if (efficiency == 1.0 || op.kind != OpKind::kSend) return size;
  const auto on_page = [&](const Slice& slice) {
    return plan_.buffer(slice.buffer).place == Memory::Kind::kGpu ||
           slice.offset.count() % kPage.count() == 0;
  };
  const Op& receive = plan_.op(plan_.messages()[op.message.index()].receive);
  if (on_page(op.from) && on_page(receive.into)) return size;
  return Bytes(std::llround(static_cast<double>(size.count()) / efficiency));
}

void SimulatedJob::deliver(const Op& op) {
  std::vector<Completion>& inbox = doors_[op.machine.index()]->inbox;
  if (inbox.empty()) awake_.push_back(op.machine.index());
  // Time spent on collectives is not compute time: the op waited for it.
  inbox.push_back({op.id, dispatcher_.started(op.id) + taken(op), network_.now()});
  if (takes_sums(op.kind)) count_forward(op);
}

void SimulatedJob::count_forward(const Op& op) {
  const std::size_t iteration = runs_[op.id.index()] - 1;
  if (left_.size() <= iteration) left_.resize(iteration + 1, forwards_);
  if (--left_[iteration] == 0) ends_.push_back(network_.now());
}

void SimulatedJob::submit(const Op& op) { dispatcher_.submit(op, hold(op)); }

// Collectives that add up sums count with backward ops, those that distribute them with forward ops.
void SimulatedJob::count_collectives() {
  std::map<std::tuple<MachineId, OpKind, int>, std::uint32_t> found;
  for (const Op& op : plan_.ops()) {
    if (!is_collective(op.kind) || meets(op.kind) != Meets::kNobody) continue;
    ++found[{op.machine, traits(op.kind).adds_up ? OpKind::kBackward : OpKind::kForward, op.layer}];
  }
  collectives_.assign(plan_.ops().size(), 0);
  for (const Op& op : plan_.ops()) {
    if (const auto own = found.find({op.machine, op.kind, op.layer}); own != found.end())
      collectives_[op.id.index()] = own->second;
  }
}

// The seed determines how compute times vary, by machine, layer and iteration. They do not vary by op, so
// they are the same for every strategy, and runs with one seed can be compared.
Duration SimulatedJob::hold(const Op& op) {
  const Duration alone = works_.of(op.id).hold;
  if (!is_compute(op.kind)) return alone;
  Random random = Random(job_.model.seed)
                      .split(whole(op.machine).value())
                      .split(static_cast<std::uint64_t>(op.kind))
                      .split(static_cast<std::uint64_t>(op.layer))
                      .split(runs_[op.id.index()]++);
  const double factor =
      network_.circumstances().compute_factor(whole(op.machine), job_.model.compute_jitter, random);
  return (factor == 1.0 ? alone : Duration::from_seconds(alone.seconds() * factor)) + taken(op);
}

// Time that collectives take before the op computes.
Duration SimulatedJob::taken(const Op& op) const {
  return collectives_.empty() ? Duration(0) : job_.model.collective_overhead * collectives_[op.id.index()];
}

bool SimulatedJob::finished() const {
  return std::all_of(nodes_.begin(), nodes_.end(), [](const Node& node) { return node.finished(); });
}

std::string SimulatedJob::stuck_text() const {
  std::string text = "the run is stuck: nothing moves any more, and these ops wait:";
  for (const Node& node : nodes_) {
    for (const OpId id : node.outstanding(2)) {
      const Op& op = plan_.op(id);
      const auto called = [&](MachineId machine) { return job_.subcluster.cluster.machine(machine).name; };
      text += fmt::format(" op {} ({} on {}{});", id, name(op.kind), called(op.machine),
                          is_message(op.kind) ? ", for " + called(op.peer) : "");
    }
  }
  return text;
}

Result<void> SimulatedJob::verdict() const {
  const Cluster& cluster = job_.subcluster.cluster;
  // Two iterations may be under way, of which only some ops have run.
  const bool ended = finished();
  const double least = ended ? iterations_ : static_cast<double>(ends_.size());
  const double most = ended ? iterations_ : least + 2;
  return carried_.verdict(link_loads(plan_, cluster, works_), least, most, cluster);
}

}  // namespace weir
