#include "backends/real/job/member.h"

#include <thread>
#include <utility>

#include "backends/real/compute/gpu/clique.h"
#include "backends/real/compute/gpu/gpu_engine.h"
#include "backends/real/compute/gradients.h"
#include "backends/real/compute/host_work.h"
#include "backends/real/compute/workers.h"
#include "backends/real/job/connect.h"
#include "backends/real/job/host.h"
#include "backends/real/job/notes.h"
#include "backends/real/job/pacing.h"
#include "backends/real/port/drive.h"
#include "backends/real/process/threads.h"
#include "backends/real/transport/channel_transport.h"
#include "core/analysis/bound.h"
#include "core/experiment/planned_run.h"
#include "core/plan/hash.h"
#include "core/protocol/job_member.h"

namespace weir::real {
namespace {

constexpr Duration kRefused{4'000'000'000};  // how long nobody may listen at the coordinator's address
constexpr std::size_t kPiece = 256 << 10;    // bytes of a record in one note

MemberTerms terms_of(const MemberSettings& settings) {
  MemberTerms terms;
  terms.patience = settings.patience;
  // A machine with a longer patience may be started before the coordinator.
  terms.reach = settings.patience > MemberSettings().patience ? settings.patience : kRefused;
  return terms;
}

// The connections of one meeting, and what moves and sums bytes over them.
struct Meeting {
  Meeting(const PlannedRun& job, const Buffers& buffers, MachineId self, int iterations)
      : gradients(job.plan, job.workload, buffers),
        works(job.plan, job.cluster),
        record(job.plan.ops().size(), iterations),
        node(job.plan, self, iterations, record) {}

  std::map<std::string, int> transports;
  std::map<std::string, int> on_tcp;
  Gradients gradients;
  Inbox inbox;
  std::unique_ptr<Workers> workers;
  std::unique_ptr<GpuEngine> engine;
  WorkTable works;
  std::vector<Channel> channels;  // until the transport owns them: peers see a closed one as a lost machine
  std::unique_ptr<ChannelTransport> transport;
  Record record;
  Node node;
};

// Owns the sockets, the memory and the work. The protocol machine says when to do what.
class Member {
 public:
  Member(const MemberSettings& settings, ControlSocket& socket) : settings_(settings), socket_(socket) {
    const auto join = listen_for_peers();
    machine_.emplace(terms_of(settings), join, Clock::monotonic());
  }

  Result<void> take_part() {
    while (true) {
      const std::vector<MemberAction> actions = machine_->actions();
      for (const MemberAction& action : actions) carry_out(action);
      if (!actions.empty()) continue;  // work that has ended may lead to more actions
      if (machine_->over()) break;
      step(std::max(machine_->wake() - Clock::monotonic(), Duration(0)));
    }
    if (machine_->error()) return tl::unexpected(*machine_->error());
    return {};
  }

 private:
  // Waits that long for a note and handles it. If none waits to be read, checks deadlines instead. False if
  // no note came.
  bool step(Duration patience) {
    const auto note = socket_.receive(patience);
    const Instant now = Clock::monotonic();
    if (note) {
      machine_->hear(*note, now);
    } else if (now >= machine_->wake()) {
      machine_->tick(now, socket_.refused());
    }
    return note.has_value();
  }

  // Handles notes during work. Fails if the work has become pointless.
  Result<void> listen() {
    while (step(Duration(0))) {
    }
    if (!machine_->over()) return {};
    return tl::unexpected(machine_->error().value_or(Error{"the job is over"}));
  }

  void carry_out(const MemberAction& action) {
    if (const auto* const to_send = std::get_if<SendNote>(&action)) socket_.send(to_send->note);
    if (std::holds_alternative<KeepAlive>(action)) socket_.keep_alive();
    if (std::holds_alternative<DropUnsent>(action)) socket_.drop_unsent();
    if (const auto* const plan = std::get_if<PlanInputs>(&action)) {
      const auto planned = this->plan(plan->inputs);
      machine_->planned(planned, Clock::monotonic());
    }
    if (const auto* const connect = std::get_if<ConnectPeers>(&action)) {
      const auto connected = meet(*connect);
      machine_->connected(connected, Clock::monotonic());
    }
    if (const auto* const run = std::get_if<RunPlan>(&action)) {
      const auto done = this->run(*run);
      machine_->ran(done, Clock::monotonic());
    }
  }

  // Opens a socket for each NIC, where machines of other hosts find this one.
  Result<JoinNote> listen_for_peers() {
    JoinNote join{static_cast<int>(settings_.machine.value()), settings_.version, {}, {}};
    for (const std::string& host : settings_.listen) {
      if (auto reachable = check_reachable(host); !reachable) return tl::unexpected(reachable.error());
      auto listener = listen_at({host, 0});
      if (!listener) return failure(fmt::format("machine {} {}", settings_.machine, listener.error().text));
      const Address here = listening_at(*listener);
      if (auto reachable = check_reachable(here.host); !reachable)  // what the name resolves to
        return tl::unexpected(reachable.error());
      listeners_.push_back(std::move(*listener));
      join.hosts.push_back(here.host);
      join.ports.push_back(here.port);
    }
    return join;
  }

  Result<PlanReport> plan(const Note& note) {
    auto inputs = content_of<InputsNote>(note);
    if (!inputs) return tl::unexpected(inputs.error());
    inputs_ = std::move(*inputs);
    auto job = plan_run(inputs_.experiment, inputs_.strategy, "the job's experiment");
    if (!job) return tl::unexpected(job.error());
    job_ = std::move(*job);
    auto gpus = open_gpus(inputs_, *job_);
    if (!gpus) return tl::unexpected(gpus.error());
    gpus_ = std::move(*gpus);
    const bool shared = shares_memory(inputs_.transport);
    auto buffers = shared ? Buffers::make_shared(job_->plan, settings_.machine, gpus_.get())
                          : Buffers::make(job_->plan, settings_.machine, gpus_.get());
    if (!buffers) return tl::unexpected(buffers.error());
    buffers_ = std::move(*buffers);
    std::string local;
    if (shared) {
      auto listened = listen_locally();
      if (!listened) return tl::unexpected(listened.error());
      local = listened->name;
      listeners_.push_back(std::move(listened->socket));
    }
    const auto clique = place_of_clique(*job_);
    if (!clique) return tl::unexpected(clique.error());
    return PlanReport{{plan_hash(job_->plan), reach(), local, *clique}, inputs_.verify == Verify::kFirst};
  }

  // The machine's GPUs. Null if it has none, or if host memory is to stand for them.
  Result<std::unique_ptr<Gpus>> open_gpus(const InputsNote& inputs, const PlannedRun& job) const {
    const std::size_t count = job.cluster.machine(settings_.machine).gpus.size();
    if (!inputs.gpus || count == 0) {
      if (settings_.gpus.empty()) return nullptr;
      return failure("it was given GPUs, but the job uses none on this machine");
    }
    if (auto from_host = check_messages(job.plan, settings_.machine, inputs.transport); !from_host)
      return tl::unexpected(from_host.error());
    std::vector<int> devices = settings_.gpus;
    for (std::size_t i = 0; settings_.gpus.empty() && i < count; ++i) devices.push_back(static_cast<int>(i));
    if (devices.size() != count) {
      return failure(
          fmt::format("the machine has {} GPUs, but {} devices were given", count, devices.size()));
    }
    return Gpus::open(devices);
  }

  // The meeting place for the GPUs of all machines. Empty if they need not meet, or another machine makes it.
  Result<std::string> place_of_clique(const PlannedRun& job) const {
    if (job.plan.all_reduces().empty() || job.cluster.gpu_machines().front() != settings_.machine)
      return std::string();
    if (!gpus_) return failure("NCCL sums between GPUs, but the machines use none");
    return Clique::place();
  }

  // Connects the machine's GPUs with those of the others, once for all runs.
  Result<void> join_clique(const MeetNote& meet, const PlannedRun& job) {
    if (job.plan.all_reduces().empty() || clique_) return {};
    Clique::Member own;
    for (const MachineId machine : job.cluster.gpu_machines()) {
      if (machine < settings_.machine)
        own.first += static_cast<int>(job.cluster.machine(machine).gpus.size());
      own.all += static_cast<int>(job.cluster.machine(machine).gpus.size());
    }
    const Duration patience = settings_.patience * 3 / 4;  // to report why, before the coordinator gives up
    auto met = Clique::meet(*gpus_, meet.clique, own, patience, [this] { return listen(); });
    if (!met) return tl::unexpected(met.error());
    clique_ = std::move(*met);
    return {};
  }

  Result<Peers> connect(const MeetNote& meet) {
    const auto token = token_from(meet.token);
    if (!token) return tl::unexpected(token.error());
    PeerSettings settings;
    settings.self = settings_.machine;
    settings.machines = meet.machines;
    settings.nics = nics_of(job_->experiment.topology, job_->cluster.machine(settings.self).group);
    settings.channels = inputs_.channels;
    settings.token = *token;
    settings.transport = inputs_.transport;
    settings.encrypt = inputs_.encrypt;
    settings.patience = settings_.patience;
    settings.watch = [this] { return listen(); };
    return connect_peers(job_->plan, job_->cluster, *buffers_, settings, listeners_);
  }

  // Connections last until the coordinator says what is next, because others may still exchange bytes with
  // this machine.
  Result<void> meet(const ConnectPeers& action) {
    meeting_.reset();
    auto peers = connect(action.meet);
    if (!peers) return tl::unexpected(peers.error());
    if (!action.ahead) listeners_.clear();  // no other machine will connect
    const Plan& plan = job_->plan;
    const Buffers& buffers = *buffers_;
    meeting_ =
        std::make_unique<Meeting>(*job_, buffers, settings_.machine, action.ahead ? 1 : inputs_.iterations);
    meeting_->transports = peers->transports;
    meeting_->on_tcp = peers->on_tcp;
    meeting_->channels = std::move(peers->channels);
    Inbox& inbox = meeting_->inbox;
    const auto work = [&plan, &buffers, &gradients = meeting_->gradients](const Op& op, std::uint64_t round) {
      if (is_compute(op.kind)) {
        gradients.compute(op, round);
      } else {
        work_on(op, plan, buffers);
      }
    };
    const auto home = [&plan](const Op& op) { return plan.buffer(main_slice(op).buffer).numa; };
    meeting_->workers = std::make_unique<Workers>(inputs_.workers, work, inbox, home);
    if (gpus_) {
      if (auto met = join_clique(action.meet, *job_); !met) return met;
      auto made = GpuEngine::make(*gpus_, plan, settings_.machine, buffers, inbox, {}, clique_.get());
      if (!made) return tl::unexpected(made.error());
      meeting_->engine = std::move(*made);
    }
    ChannelSettings how;
    how.threads = inputs_.io_threads > 0 ? inputs_.io_threads : io_threads_for(1);
    how.poll = inputs_.poll;
    if (inputs_.pace > 0) {
      const Paces all = paces(plan, job_->cluster, meeting_->works);
      pace(meeting_->channels, all[settings_.machine.index()], inputs_.pace);
    }
    meeting_->transport = std::make_unique<ChannelTransport>(std::move(meeting_->channels), how, plan,
                                                             settings_.machine, buffers, inbox);
    return {};
  }

  Result<DoneNote> run(const RunPlan& action) {
    Meeting& meeting = *meeting_;
    const Plan& plan = job_->plan;
    const bool verified = action.ahead || inputs_.verify == Verify::kAll;
    const Clock clock(action.begin);
    RealPort port(plan, job_->cluster, meeting.works, settings_.machine,
                  {job_->dispatch, inputs_.workers, verified, meeting.engine.get()}, clock,
                  *meeting.transport, *meeting.workers, meeting.inbox);
    const Duration ahead = Instant() - clock.now();
    if (ahead > Duration(0)) std::this_thread::sleep_for(std::chrono::nanoseconds(ahead.ns()));
    DriveSettings settings;
    // While others compute or send to each other, nothing may happen here for that long.
    settings.patience =
        settings_.patience + plan_bound(plan, job_->cluster, job_->workload, Stretch::first()).time * 2;
    settings.tick = [this] { return listen(); };
    if (auto driven = drive(meeting.node, port, plan, job_->cluster, settings); !driven)
      return tl::unexpected(driven.error());
    if (!meeting.gradients.wrong().empty()) return failure("a sum is wrong: " + meeting.gradients.wrong());
    send_record(meeting.record, plan.ops(settings_.machine));
    return DoneNote{meeting.gradients.checked(), meeting.transports, meeting.on_tcp};
  }

  // Sends the record in pieces. Each piece shows the coordinator that this machine is alive, even on a slow
  // network.
  void send_record(const Record& record, std::span<const Op> ops) {
    std::string piece;
    std::int64_t sent = 0;
    const auto send = [&] {
      const auto size = static_cast<std::int64_t>(piece.size());
      socket_.send(note_of(RecordNote{sent}, {}, std::exchange(piece, {})));
      sent += size;
    };
    for (const auto& iteration : record.iterations) {
      for (const Op& op : ops) {
        piece.append(reinterpret_cast<const char*>(&iteration[op.id.index()]),  // NOLINT: plain numbers
                     sizeof(OpRecord));
        if (piece.size() >= kPiece) send();
      }
    }
    if (!piece.empty()) send();
  }

  const MemberSettings& settings_;
  ControlSocket& socket_;
  std::vector<Descriptor> listeners_;
  std::optional<JobMember> machine_;
  InputsNote inputs_;
  std::unique_ptr<PlannedRun> job_;
  std::unique_ptr<Gpus> gpus_;
  std::unique_ptr<Buffers> buffers_;
  std::unique_ptr<Clique> clique_;  // over the GPUs of all machines
  std::unique_ptr<Meeting> meeting_;
};

}  // namespace

Result<void> take_part(const JobKey& key, const MemberSettings& settings) {
  auto socket = ControlSocket::join(key);
  if (!socket) return tl::unexpected(socket.error());
  return Member(settings, **socket).take_part();
}

}  // namespace weir::real
