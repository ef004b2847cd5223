#include "backends/real/session/group.h"

#include "backends/real/compute/host_work.h"
#include "backends/real/port/port.h"
#include "backends/real/process/clock.h"
#include "core/run/node.h"

namespace weir::real {

ApplicationCopies::ApplicationCopies(const Plan& plan, MachineId self, const Buffers& buffers,
                                     Application& application, Engine& workers, Inbox& inbox)
    : plan_(&plan),
      self_(self),
      buffers_(&buffers),
      application_(&application),
      workers_(&workers),
      inbox_(&inbox) {}

Result<void> ApplicationCopies::open(int device) {
  if (device == device_) return {};
  if (device_ != -1) {
    return failure(fmt::format(
        "a tensor is on device {}, but others of its group are on {}; a rank has one GPU", device, device_));
  }
  auto gpus = Gpus::open({device});
  if (!gpus) return tl::unexpected(gpus.error());
  auto engine = GpuEngine::make(**gpus, *plan_, self_, *buffers_, *inbox_,
                                [this](const Op& copy) { return application_->lend(copy); });
  if (!engine) return tl::unexpected(engine.error());
  gpus_ = std::move(*gpus);
  engine_ = std::move(*engine);
  device_ = device;
  return {};
}

void ApplicationCopies::put(const Op& op, std::uint64_t round) {
  const int device = application_->device_of(op);
  if (device == -1) return workers_->put(op, round);
  if (const auto opened = open(device); !opened) {
    Event event;
    event.kind = Event::Kind::kBroken;
    event.op = op.id;
    event.text = opened.error().text;
    event.started = event.at = Clock::monotonic();
    return inbox_->put(std::move(event));
  }
  engine_->put(op, round);
}

Result<std::unique_ptr<Group>> Group::open(std::shared_ptr<const TensorPlan> tensors,
                                           std::shared_ptr<KeptTensors> kept, const GroupSettings& settings,
                                           std::span<const Descriptor> listeners,
                                           std::function<void(const std::shared_ptr<Transfer>&)> done) {
  std::unique_ptr<Group> group(new Group);
  group->self_ = settings.peers.self;
  group->settings_ = settings;
  group->plan_ = std::move(tensors);
  group->kept_ = std::move(kept);
  const Plan& plan = group->plan_->plan;
  const MachineId self = group->self_;
  const auto make = shares_memory(settings.peers.transport)
                        ? &Buffers::make_shared
                        : static_cast<decltype(&Buffers::make_shared)>(&Buffers::make);
  auto buffers = make(plan, self, nullptr, GradientHome::kApplication);
  if (!buffers) return tl::unexpected(buffers.error());
  group->buffers_ = std::move(*buffers);
  auto peers = connect_peers(plan, *group->plan_->cluster, *group->buffers_, settings.peers, listeners);
  if (!peers) return tl::unexpected(peers.error());
  group->works_ = std::make_unique<WorkTable>(plan, *group->plan_->cluster);
  group->application_ =
      std::make_unique<Application>(plan, self, group->plan_->layers, group->inbox_, std::move(done));
  const auto work = [group = group.get()](const Op& op, std::uint64_t /*round*/) { group->work(op); };
  const auto home = [&plan](const Op& op) { return plan.buffer(op.into.buffer).numa; };
  group->workers_ = std::make_unique<Workers>(settings.workers, work, group->inbox_, home);
  ChannelSettings how;
  how.threads = settings.io_threads;
  group->transport_ = std::make_unique<ChannelTransport>(std::move(peers->channels), how, plan, self,
                                                         *group->buffers_, group->inbox_);
  return group;
}

Group::~Group() {
  stop_ = true;
  inbox_.end_wait();
  if (thread_.joinable()) thread_.join();
  transport_.reset();
  workers_.reset();
}

// Called by the workers.
void Group::work(const Op& op) {
  const Plan& plan = plan_->plan;
  if (kept_ && op.kind == OpKind::kUpdate) {
    for (const std::span<std::byte> bytes : buffers_->bytes(op.into, op.dtype)) kept_->add(op, bytes);
    return;
  }
  if (!application_->is_part_of(op)) return work_on(op, plan, *buffers_);
  const bool out = plan.buffer(op.from.buffer).role == Buffer::Role::kGradient;
  for (const std::span<std::byte> bytes : buffers_->bytes(out ? op.into : op.from, op.dtype))
    application_->copy(op, bytes);
}

void Group::begin() {
  thread_ = std::thread([this] { run(); });
}

std::optional<Error> Group::error() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

void Group::run() {
  constexpr int kForEver = std::numeric_limits<int>::max();
  constexpr Duration kSlice{100'000'000};
  const Plan& plan = plan_->plan;
  Node node(plan, self_, kForEver, Rounds::kApart);
  PortSettings settings;
  settings.dispatch = settings_.dispatch;
  settings.sums = settings_.workers;
  settings.application = application_.get();
  ApplicationCopies copies(plan, self_, *buffers_, *application_, *workers_, inbox_);
  settings.gpus = &copies;
  RealPort port(plan, *plan_->cluster, *works_, self_, settings, Clock(Clock::monotonic()), *transport_,
                *workers_, inbox_);
  while (!stop_ && !node.error()) {
    if (!node.pump(port)) port.wait(kSlice);
  }
  if (!node.error()) return;
  const std::lock_guard lock(mutex_);
  error_ = *node.error();
}

}  // namespace weir::real
