#include "backends/real/job/member.h"

#include <thread>
#include <type_traits>
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
#include "backends/real/job/silence.h"
#include "backends/real/port/drive.h"
#include "backends/real/process/threads.h"
#include "backends/real/transport/channel_transport.h"
#include "core/analysis/bound.h"
#include "core/base/units_text.h"
#include "core/experiment/planned_run.h"
#include "core/plan/hash.h"

namespace weir::real {
namespace {

constexpr Duration kMemberSlice{100'000'000};  // after which deadlines are looked at
constexpr Duration kRefused{4'000'000'000};    // while nobody listens where the coordinator should
constexpr std::size_t kPiece = 256 << 10;      // bytes of a record in one note
constexpr Duration kMoment{
    1'000'000'000};  // for the coordinator to say what it takes for the cause of a failure

class Member {
 public:
  Member(const MemberSettings& settings, ControlSocket& socket) : settings_(settings), socket_(socket) {}

  Result<void> take_part() {
    JoinNote join{static_cast<int>(settings_.machine.value()), settings_.version, {}, {}};
    for (const std::string& host : settings_.listen) {
      if (auto reachable = check_reachable(host); !reachable) return reachable;
      auto listener = listen_at({host, 0});
      if (!listener) return failure(fmt::format("machine {} {}", settings_.machine, listener.error().text));
      const Address here = listening_at(*listener);
      if (auto reachable = check_reachable(here.host); !reachable)
        return reachable;  // what the name stands for
      listeners_.push_back(std::move(*listener));
      join.hosts.push_back(here.host);
      join.ports.push_back(here.port);
    }
    socket_.send(note_of(join));
    socket_.keep_alive();
    const auto inputs = hear<InputsNote>();
    if (!inputs) return tl::unexpected(inputs.error());
    const auto planned = plan_run(inputs->experiment, inputs->strategy, "the job's experiment");
    if (!planned) return tl::unexpected(planned.error());
    const Plan& plan = (*planned)->plan;
    auto gpus = open_gpus(*inputs, **planned);
    if (!gpus) return tl::unexpected(gpus.error());
    gpus_ = std::move(*gpus);
    const bool shared = shares_memory(inputs->transport);
    const auto buffers = shared ? Buffers::make_shared(plan, settings_.machine, gpus_.get())
                                : Buffers::make(plan, settings_.machine, gpus_.get());
    if (!buffers) return tl::unexpected(buffers.error());
    std::string local;
    if (shared) {
      auto listened = listen_locally();
      if (!listened) return tl::unexpected(listened.error());
      local = listened->name;
      listeners_.push_back(std::move(listened->socket));
    }
    const auto clique = place_of_clique(**planned);
    if (!clique) return tl::unexpected(clique.error());
    socket_.send(note_of(PlannedNote{plan_hash(plan), reach(), local, *clique}));
    auto meet = await<MeetNote>();
    if (meet && inputs->verify == Verify::kFirst)
      meet = run_together<MeetNote>(*meet, *inputs, **planned, **buffers, {1, true});
    if (!meet) return tl::unexpected(meet.error());
    const Runs all{inputs->iterations, inputs->verify == Verify::kAll};
    const auto goodbye = run_together<GoodbyeNote>(*meet, *inputs, **planned, **buffers, all);
    if (!goodbye) return tl::unexpected(goodbye.error());
    socket_.drop_unsent();
    return {};
  }

  // Tells the coordinator once why this machine has failed.
  void tell(const Error& error) {
    if (!std::exchange(told_, true)) socket_.send(note_of(FailedNote{error.text}));
  }

 private:
  /// The next note, if one comes in that time.
  std::optional<Note> receive(Duration patience) {
    auto note = socket_.receive(patience);
    if (note) {
      silence_.end(Clock::monotonic());
      heard_ = true;
    }
    return note;
  }

  /// Fails if the coordinator is gone. To be asked when no note has come.
  Result<void> check_silence() {
    if (silence_.length(Clock::monotonic()) <= kSilence) return {};
    told_ = true;  // as far as it can be
    socket_.drop_unsent();
    return failure(fmt::format("the coordinator has said nothing for {}", text(kSilence)));
  }

  /// Fails if nobody has been where the coordinator should be, for so long that nobody will.
  Result<void> check_reached() {
    // Whoever is told to be more patient than others may come before the coordinator.
    const Duration patience = settings_.patience > MemberSettings().patience ? settings_.patience : kRefused;
    if (heard_ || socket_.refused() <= patience) return {};
    told_ = true;  // as far as it can be
    socket_.drop_unsent();
    return failure(
        fmt::format("nobody has listened where the key says that the coordinator is for {}: the job "
                    "has ended, or the key is an old one",
                    text(patience)));
  }

  /// The next note that is a T; the coordinator may say in between that it is alive.
  template <class T>
  Result<T> hear() {
    const Instant until = Clock::monotonic() + settings_.patience;
    while (true) {
      const auto note = receive(kMemberSlice);
      if (!note) {
        if (auto well = check_silence(); !well) return tl::unexpected(well.error());
        if (auto there = check_reached(); !there) return tl::unexpected(there.error());
        if (Clock::monotonic() < until) continue;
        return failure(fmt::format("the coordinator has not said '{}' for {}{}", T::kType,
                                   text(settings_.patience),
                                   heard_ ? "" : ": it is gone, or the key is another job's"));
      }
      if (note->type == AliveNote::kType) continue;
      if (note->type == AskClockNote::kType) {
        socket_.send(note_of(ClockNote{Clock::monotonic().ns()}));
        continue;
      }
      if (note->type == FailedNote::kType) return tl::unexpected(verdict(*note));
      return content_of<T>(*note);
    }
  }

  // Those of the machine; none if it has none, or host memory is to stand for them.
  Result<std::unique_ptr<Gpus>> open_gpus(const InputsNote& inputs, const PlannedRun& job) const {
    const std::size_t count = job.cluster.machine(settings_.machine).gpus.size();
    if (!inputs.gpus || count == 0) {
      if (settings_.gpus.empty()) return nullptr;
      return failure("it is given GPUs, and the job uses none of this machine");
    }
    if (auto from_host = check_messages(job.plan, settings_.machine, inputs.transport); !from_host)
      return tl::unexpected(from_host.error());
    std::vector<int> devices = settings_.gpus;
    for (std::size_t i = 0; settings_.gpus.empty() && i < count; ++i) devices.push_back(static_cast<int>(i));
    if (devices.size() != count) {
      return failure(
          fmt::format("the machine has {} GPUs, and {} devices are to be these", count, devices.size()));
    }
    return Gpus::open(devices);
  }

  // Where NCCL has the GPUs of all machines meet, if they are to and this is the machine that says so.
  Result<std::string> place_of_clique(const PlannedRun& job) const {
    if (job.plan.all_reduces().empty() || job.cluster.gpu_machines().front() != settings_.machine)
      return std::string();
    if (!gpus_) return failure("NCCL sums between GPUs, and machines use none");
    return Clique::place();
  }

  // Has the machine's GPUs meet those of the others, once for all runs.
  Result<void> join_clique(const MeetNote& meet, const PlannedRun& job) {
    if (job.plan.all_reduces().empty() || clique_) return {};
    Clique::Member own;
    for (const MachineId machine : job.cluster.gpu_machines()) {
      if (machine < settings_.machine)
        own.first += static_cast<int>(job.cluster.machine(machine).gpus.size());
      own.all += static_cast<int>(job.cluster.machine(machine).gpus.size());
    }
    const Duration patience = settings_.patience * 3 / 4;  // to say why before the coordinator says who
    auto met = Clique::meet(*gpus_, meet.clique, own, patience, [this] { return tick(); });
    if (!met) return tl::unexpected(met.error());
    clique_ = std::move(*met);
    return {};
  }

  Result<Peers> connect(const MeetNote& meet, const InputsNote& inputs, const PlannedRun& planned,
                        const Buffers& buffers) {
    const auto token = token_from(meet.token);
    if (!token) return tl::unexpected(token.error());
    PeerSettings settings;
    settings.self = settings_.machine;
    settings.machines = meet.machines;
    settings.nics = nics_of(planned.experiment.topology, planned.cluster.machine(settings.self).group);
    settings.channels = inputs.channels;
    settings.token = *token;
    settings.transport = inputs.transport;
    settings.encrypt = inputs.encrypt;
    settings.patience = settings_.patience;
    settings.watch = [this] { return tick(); };
    auto peers = connect_peers(planned.plan, planned.cluster, buffers, settings, listeners_);
    if (!peers) return tl::unexpected(root_cause(peers.error()));
    return peers;
  }

  // Why the coordinator has ended the job. It need not be told in turn.
  Error verdict(const Note& note) {
    told_ = true;
    socket_.drop_unsent();
    return Error{reason_in(note)};
  }

  // Fails if the coordinator has given up, or is gone.
  Result<void> tick() {
    while (const auto note = receive(Duration(0))) {
      if (note->type == FailedNote::kType) return tl::unexpected(verdict(*note));
    }
    return check_silence();
  }

  // How often the plan is run, and whether with gradients whose sums are checked.
  struct Runs {
    int iterations = 1;
    bool verified = false;
  };

  // Meets the others and runs the plan with them. Returns what the coordinator says once all have:
  // connections last until then, as others may still move bytes with this machine.
  template <class Next>
  Result<Next> run_together(const MeetNote& meet, const InputsNote& inputs, const PlannedRun& job,
                            const Buffers& buffers, const Runs& runs) {
    auto peers = connect(meet, inputs, job, buffers);
    if (!peers) return tl::unexpected(peers.error());
    if constexpr (std::is_same_v<Next, GoodbyeNote>) listeners_.clear();  // nobody else is to come
    Gradients gradients(job.plan, job.workload, buffers);
    Inbox inbox;
    const auto work = [&](const Op& op, std::uint64_t round) {
      if (is_compute(op.kind)) {
        gradients.compute(op, round);
      } else {
        work_on(op, job.plan, buffers);
      }
    };
    const auto home = [&](const Op& op) { return job.plan.buffer(main_slice(op).buffer).numa; };
    Workers workers(inputs.workers, work, inbox, home);
    std::unique_ptr<GpuEngine> engine;
    if (gpus_) {
      auto met = join_clique(meet, job);
      if (!met) return tl::unexpected(root_cause(met.error()));
      auto made = GpuEngine::make(*gpus_, job.plan, settings_.machine, buffers, inbox, {}, clique_.get());
      if (!made) return tl::unexpected(root_cause(made.error()));
      engine = std::move(*made);
    }
    ChannelSettings how;
    how.threads = inputs.io_threads > 0 ? inputs.io_threads : io_threads_for(1);
    how.poll = inputs.poll;
    const WorkTable works(job.plan, job.cluster);
    if (inputs.pace > 0) {
      pace(peers->channels, paces(job.plan, job.cluster, works)[settings_.machine.index()], inputs.pace);
    }
    ChannelTransport transport(std::move(peers->channels), how, job.plan, settings_.machine, buffers, inbox);
    Record record(job.plan.ops().size(), runs.iterations);
    Node node(job.plan, settings_.machine, runs.iterations, record);
    socket_.send(note_of(MetNote{}));
    const auto go = hear<GoNote>();
    if (!go) return tl::unexpected(go.error());
    const Clock clock(Instant(go->begin));
    RealPort port(job.plan, job.cluster, works, settings_.machine,
                  {job.dispatch, inputs.workers, runs.verified, engine.get()}, clock, transport, workers,
                  inbox);
    const Duration ahead = Instant() - clock.now();
    if (ahead > settings_.patience)
      return failure(fmt::format("the coordinator lets it begin {} from now", text(ahead)));
    if (ahead > Duration(0)) std::this_thread::sleep_for(std::chrono::nanoseconds(ahead.ns()));
    DriveSettings settings;
    // Where others compute or send to each other, nothing happens here for as long as that takes.
    settings.patience = settings_.patience + plan_bound(job.plan, job.cluster, job.workload).time * 2;
    settings.tick = [this] { return tick(); };
    if (auto driven = drive(node, port, job.plan, job.cluster, settings); !driven) {
      return tl::unexpected(root_cause(driven.error()));
    }
    if (!gradients.wrong().empty()) return failure("a sum is wrong: " + gradients.wrong());
    send_record(record, job.plan.ops(settings_.machine));
    socket_.send(note_of(DoneNote{gradients.checked(), peers->transports, peers->on_tcp}));
    return await<Next>();
  }

  // In pieces, each of which tells the coordinator that this machine is alive, however slow the way is.
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

  // Holds the connections until the coordinator has heard why: else a peer that sees them closed might be
  // heard first, and blame this machine. What the coordinator takes for the cause is returned, as this
  // machine may have failed only because another had; its own error if it says nothing.
  Error root_cause(const Error& own) {
    if (told_) return own;
    tell(own);
    const Instant until = Clock::monotonic() + kMoment;
    while (Clock::monotonic() < until) {
      const auto note = receive(kMemberSlice);
      if (note && note->type == FailedNote::kType) return verdict(*note);
    }
    return own;
  }

  // The next note that is a T, however long the others take.
  template <class T>
  Result<T> await() {
    while (true) {
      const auto note = receive(kMemberSlice);
      if (note && note->type == T::kType) return content_of<T>(*note);
      if (note && note->type == FailedNote::kType) return tl::unexpected(verdict(*note));
      if (note) continue;
      if (auto well = check_silence(); !well) return tl::unexpected(well.error());
    }
  }

  const MemberSettings& settings_;
  ControlSocket& socket_;
  std::vector<Descriptor> listeners_;
  std::unique_ptr<Gpus> gpus_;
  std::unique_ptr<Clique> clique_;  // of these and all other machines'
  Silence silence_;                 // of the coordinator
  bool heard_ = false;              // the coordinator, ever
  bool told_ = false;               // of the failure: it the coordinator, or the coordinator it
};

}  // namespace

Result<void> take_part(const JobKey& key, const MemberSettings& settings) {
  auto socket = ControlSocket::join(key);
  if (!socket) return tl::unexpected(socket.error());
  Member member(settings, **socket);
  auto done = member.take_part();
  if (!done) member.tell(done.error());
  return done;
}

}  // namespace weir::real
