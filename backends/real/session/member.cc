#include "backends/real/session/member.h"

#include "backends/real/job/host.h"
#include "backends/real/process/clock.h"
#include "backends/real/process/threads.h"
#include "core/base/units_text.h"

namespace weir::real {
namespace {

constexpr Duration kMemberSlice{100'000'000};
constexpr Duration kAgain{500'000'000};
constexpr Duration kMoment{1'000'000'000};  // for the leader to say what it takes for the cause of a failure

int share_of_cpus(const SessionSettings& settings) {
  const int cpus = static_cast<int>(allowed_cpus().size());
  return std::max(1, cpus / std::max(1, settings.local_size));
}

}  // namespace

Result<FreshKey> session_key(const SessionSettings& settings) {
  const auto leader = leader_address(settings);
  if (!leader) return tl::unexpected(leader.error());
  const auto address = numeric(*leader);
  if (!address) return failure(fmt::format("leader: {}", address.error().text));
  const auto secret = token_from(settings.secret);
  if (!secret)
    return failure(
        "secret: expected 32 random bytes in hexadecimal, the same for all processes (WEIR_SECRET)");
  return derive_key(*secret, "session", fmt::format("tcp://{}", text(*address)));
}

Result<std::unique_ptr<SessionMember>> SessionMember::join(const SessionSettings& settings,
                                                           const std::string& version, MemberEvents& events) {
  std::unique_ptr<SessionMember> member(new SessionMember(settings, events));
  if (auto seated = member->take_seat(version); !seated) return tl::unexpected(seated.error());
  return member;
}

SessionMember::~SessionMember() = default;

Result<void> SessionMember::take_seat(const std::string& version) {
  const auto key = session_key(settings_);
  if (!key) return tl::unexpected(key.error());
  const auto leader = leader_address(settings_);
  SeatNote seat{settings_.role.server, settings_.role.number, version, {}};
  std::string host = settings_.listen;
  if (host.empty()) {
    const auto towards = address_towards(*leader);
    if (!towards)
      return failure(fmt::format("listen: {}; say where peers find this process", towards.error().text));
    host = *towards;
  }
  if (auto reachable = check_reachable(host); !reachable)
    return failure(fmt::format("listen: {}", reachable.error().text));
  auto listener = listen_at({host, 0});
  if (!listener) return failure(fmt::format("listen: {}", listener.error().text));
  const Address here = listening_at(*listener);
  seat.place = {{here.host}, {here.port}, reach(), ""};
  listeners_.push_back(std::move(*listener));
  auto local = listen_locally();
  if (!local) return tl::unexpected(local.error());
  seat.place.local = local->name;
  listeners_.push_back(std::move(local->socket));

  auto socket = ControlSocket::join(key->key);
  if (!socket) return tl::unexpected(socket.error());
  socket_ = std::move(*socket);
  socket_->keep_alive();
  Instant said;
  // The leader, which knows who is missing, says so before.
  const Instant until = Clock::monotonic() + Duration::from_seconds(settings_.patience) + kMoment * 2;
  while (!world_) {
    // What was said may have come to the leader of a session before this one, which has ended since.
    if (Clock::monotonic() - said > kAgain) {
      say(seat);
      said = Clock::monotonic();
    }
    const auto welcomed = serve(kMemberSlice);
    if (!welcomed) return tl::unexpected(welcomed.error());
    if (*welcomed) return failure("the session was over before it began");
    if (Clock::monotonic() < until) continue;
    return failure(
        fmt::format("rank 0 at {} has not let {} in for {} s: it is gone, its secret is another, or "
                    "others have not come",
                    settings_.leader, text(settings_.role), settings_.patience));
  }
  return {};
}

// Fails if a group has.
Result<void> SessionMember::check() {
  for (const auto& [number, opened] : groups_) {
    if (const auto error = opened.group->error())
      return tl::unexpected(fail(Error{world_->with_roles(error->text, *opened.cluster, opened.ranks)}));
  }
  return {};
}

Result<bool> SessionMember::serve(Duration patience) {
  const auto note = socket_->receive(patience);
  if (note) {
    silence_.end(Clock::monotonic());
    heard_ = true;
    if (auto handled = handle(*note); !handled && !over_) return tl::unexpected(handled.error());
  } else if (silence_.length(Clock::monotonic()) > kSilence) {
    told_ = true;  // as far as it can be
    socket_->drop_unsent();
    end_groups();
    return failure(
        fmt::format("rank 0, which leads the session, has said nothing for {}", weir::text(kSilence)));
  }
  if (auto well = check(); !well && !over_) return tl::unexpected(well.error());
  return over_;
}

void SessionMember::end() {
  over_ = true;
  socket_->drop_unsent();
  events_.ending();
}

void SessionMember::end_groups() {
  events_.ending();
  groups_.clear();
}

Error SessionMember::verdict(const Note& note) {
  told_ = true;
  socket_->drop_unsent();
  end_groups();
  return Error{reason_in(note)};
}

// The connections are held until the leader has heard why: else a peer that sees them closed might be heard
// first, and blame this process. It may say goodbye instead: peers that have heard it before are gone.
Error SessionMember::fail(const Error& own) {
  const std::string why = world_ ? world_->with_roles(own.text, world_->cluster(), {}) : own.text;
  if (!over_ && !std::exchange(told_, true)) {
    say(FailedNote{why});
    const Instant until = Clock::monotonic() + kMoment;
    while (!over_ && Clock::monotonic() < until) {
      const auto note = socket_->receive(kMemberSlice);
      if (note && note->type == FailedNote::kType) return verdict(*note);
      if (note && note->type == GoodbyeNote::kType) end();
    }
  }
  end_groups();
  return Error{why};
}

Result<void> SessionMember::handle(const Note& note) {
  const auto with = [&]<class T>(const Result<T>& content, const auto& take) -> Result<void> {
    if (!content) return tl::unexpected(fail(content.error()));
    return take(*content);
  };
  if (note.type == AliveNote::kType) return {};
  if (note.type == FailedNote::kType) return tl::unexpected(verdict(note));
  if (note.type == GoodbyeNote::kType) {
    end();
    return {};
  }
  if (note.type == WelcomeNote::kType) {
    return with(content_of<WelcomeNote>(note), [&](const WelcomeNote& welcome) -> Result<void> {
      auto world = SessionLayout::of(welcome);
      if (!world) return tl::unexpected(fail(world.error()));
      world_ = std::move(*world);
      peers_.self = world_->machine(settings_.role);
      peers_.machines = welcome.machines;
      peers_.nics = world_->nics(peers_.self);
      peers_.transport = welcome.transport;
      peers_.encrypt = welcome.encrypt;
      peers_.patience = Duration::from_seconds(settings_.patience);
      return {};
    });
  }
  if (note.type == OpenNote::kType)
    return with(content_of<OpenNote>(note), [&](const OpenNote& said) { return open(said); });
  if (note.type == BeginNote::kType) {
    return with(content_of<BeginNote>(note), [&](const BeginNote& said) -> Result<void> {
      const auto opened = groups_.find(said.group);
      if (opened == groups_.end())
        return tl::unexpected(fail(Error{"the leader begins a group that is not open"}));
      opened->second.group->begin();
      events_.begun(*opened->second.group, opened->second.tensors);
      return {};
    });
  }
  const auto pass = [](const auto& tell) {
    return [tell](const auto& said) -> Result<void> {
      tell(said);
      return {};
    };
  };
  if (note.type == RefuseNote::kType)
    return with(content_of<RefuseNote>(note), pass([&](const RefuseNote& said) { events_.refused(said); }));
  if (note.type == CountNote::kType)
    return with(content_of<CountNote>(note), pass([&](const CountNote& said) { events_.counted(said); }));
  if (note.type == MissingNote::kType)
    return with(content_of<MissingNote>(note), pass([&](const MissingNote& said) { events_.missing(said); }));
  if (note.type == WatchNote::kType)
    return with(content_of<WatchNote>(note), pass([&](const WatchNote& said) { events_.watch(said); }));
  return tl::unexpected(fail(Error{fmt::format("the leader says '{}'", note.type.substr(0, 20))}));
}

// Of kept tensors once for all ranks' groups.
Result<void> SessionMember::plan(const OpenNote& note, bool kept, MachineId self) {
  if (kept && note.tensors == batch_.tensors) return {};
  auto plan = kept ? world_->kept_plan(note.tensors) : world_->plan(note.tensors, note.ranks);
  if (!plan) return tl::unexpected(plan.error());
  batch_ = {note.tensors, std::move(*plan), nullptr};
  if (!kept || !settings_.role.server) return {};
  auto keeps = KeptTensors::make(batch_.plan->plan, self);
  if (!keeps) return tl::unexpected(keeps.error());
  batch_.kept = std::move(*keeps);
  return {};
}

GroupSettings SessionMember::group_settings(const OpenNote& note, const Cluster& cluster,
                                            const Token& token) {
  GroupSettings settings;
  settings.peers = peers_;
  settings.peers.token = token;
  settings.peers.watch = [&]() -> Result<void> {
    while (const auto heard = socket_->receive(Duration(0))) {
      silence_.end(Clock::monotonic());
      if (heard->type != FailedNote::kType) {
        if (auto handled = handle(*heard); !handled) return handled;
        if (over_) return failure("the session is over");
        continue;
      }
      told_ = true;
      socket_->drop_unsent();
      return failure(reason_in(*heard));
    }
    return {};
  };
  settings.dispatch = world_->dispatch();
  settings.workers = settings_.threads > 0 ? settings_.threads : std::min(4, share_of_cpus(settings_));
  settings.io_threads = std::min(kMostIoThreads, share_of_cpus(settings_));
  const std::vector<MachineId> machines = world_->machines(cluster, note.ranks);
  settings.peers.machines.clear();
  for (std::size_t i = 0; i < machines.size(); ++i) {
    if (machines[i] == peers_.self) settings.peers.self = MachineId(i);
    settings.peers.machines.push_back(peers_.machines[machines[i].index()]);
  }
  if (!settings_.role.server || note.ranks.empty()) return settings;
  const int alike = static_cast<int>(world_->ranks() / note.ranks.size());  // groups here, of other ranks
  settings.workers = std::max(1, settings.workers / alike);
  settings.io_threads = std::max(1, settings.io_threads / alike);
  return settings;
}

Result<void> SessionMember::open(const OpenNote& note) {
  if (!world_ || (!groups_.empty() && note.group <= groups_.rbegin()->first))
    return tl::unexpected(fail(Error{"the leader opens groups out of order"}));
  const std::vector<int>& ranks = note.ranks;
  const bool kept = std::any_of(note.tensors.begin(), note.tensors.end(),
                                [](const TensorNote& tensor) { return tensor.kept; });
  if (!world_->has(ranks) || !SessionLayout::takes_part(settings_.role, ranks) || (kept && ranks.size() != 1))
    return tl::unexpected(fail(Error{"the leader opens a group of others"}));
  const auto token = token_from(note.token);
  if (!token) return tl::unexpected(fail(token.error()));
  const auto cluster = world_->cluster(ranks, kept);
  const auto failed = [&](const Error& error) {
    return tl::unexpected(fail(Error{world_->with_roles(error.text, *cluster, ranks)}));
  };
  const GroupSettings settings = group_settings(note, *cluster, *token);
  if (auto planned = plan(note, kept, settings.peers.self); !planned) return failed(planned.error());
  auto group = Group::open(batch_.plan, batch_.kept, settings, listeners_,
                           [this](const std::shared_ptr<Transfer>& transfer) { events_.done(transfer); });
  if (!group) return failed(group.error());
  say(OpenedNote{note.group, batch_.plan->hash});
  groups_[note.group] = {note.tensors, cluster, ranks, std::move(*group)};
  return {};
}

}  // namespace weir::real
