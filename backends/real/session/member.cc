#include "backends/real/session/member.h"

#include "backends/real/job/host.h"
#include "backends/real/process/clock.h"
#include "backends/real/process/threads.h"
#include "core/base/units_text.h"

namespace weir::real {
namespace {

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

// Opens the sockets at which the others find this process.
Result<SeatNote> SessionMember::listen_for_peers() {
  SeatNote seat{settings_.role.server, settings_.role.number, "", {}};
  std::string host = settings_.listen;
  if (host.empty()) {
    const auto leader = leader_address(settings_);
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
  return seat;
}

Result<void> SessionMember::take_seat(const std::string& version) {
  const auto key = session_key(settings_);
  if (!key) return tl::unexpected(key.error());
  auto seat = listen_for_peers();
  if (!seat) return tl::unexpected(seat.error());
  seat->version = version;
  auto socket = ControlSocket::join(key->key);
  if (!socket) return tl::unexpected(socket.error());
  socket_ = std::move(*socket);
  FollowerTerms terms;
  terms.seat = *seat;
  terms.patience = Duration::from_seconds(settings_.patience);
  terms.not_admitted = fmt::format(
      "rank 0 at {} has not admitted {} for {} s: it has ended, has another secret, or waits for others",
      settings_.leader, text(settings_.role), settings_.patience);
  machine_.emplace(std::move(terms), Clock::monotonic());
  while (!layout_) {
    const auto served = serve(kLook);
    if (!served) return tl::unexpected(served.error());
    if (*served) return failure("the session was over before it began");
  }
  return {};
}

bool SessionMember::step(Duration patience) {
  carry_out_all();  // what is due already does not wait for the next note
  const Duration left = std::max(machine_->wake() - Clock::monotonic(), Duration(0));
  const auto note = socket_->receive(std::min(patience, left));
  const Instant now = Clock::monotonic();
  if (note) {
    machine_->hear(*note, now);
  } else if (now >= machine_->wake()) {
    machine_->tick(now);
  }
  carry_out_all();
  return note.has_value();
}

void SessionMember::carry_out_all() {
  for (bool any = true; any;) {  // actions may lead to more actions
    const std::vector<FollowerAction> actions = machine_->actions();
    for (const FollowerAction& action : actions) carry_out(action);
    any = !actions.empty();
  }
}

Result<void> SessionMember::listen() {
  while (step(Duration(0))) {
  }
  if (!machine_->over()) return {};
  return tl::unexpected(machine_->error().value_or(Error{"the session is over"}));
}

Result<bool> SessionMember::serve(Duration patience) {
  step(patience);
  if (!machine_->over()) check_groups();
  while (machine_->phase() == SessionFollower::Phase::kFailing) step(kLook);
  return machine_->over() ? finish() : Result<bool>(false);
}

// If a group has failed, so has this process.
void SessionMember::check_groups() {
  for (const auto& [number, opened] : groups_) {
    if (const auto error = opened.group->error())
      return give_up(Error{layout_->with_roles(error->text, *opened.cluster, opened.ranks)});
  }
}

void SessionMember::give_up(const Error& own) {
  machine_->fail(layout_ ? Error{layout_->with_roles(own.text, layout_->cluster(), {})} : own,
                 Clock::monotonic());
}

Error SessionMember::fail(const Error& own) {
  give_up(own);
  while (!machine_->over()) step(kLook);
  (void)finish();
  return machine_->error().value_or(own);
}

// If the session ends well, the groups stay until everything is done.
Result<bool> SessionMember::finish() {
  const std::optional<Error>& error = machine_->error();
  if (!std::exchange(finished_, true)) {
    events_.ending();
    if (error) groups_.clear();
  }
  if (error) return tl::unexpected(*error);
  return true;
}

void SessionMember::carry_out(const FollowerAction& action) {
  if (const auto* const to_send = std::get_if<SendNote>(&action)) socket_->send(to_send->note);
  if (std::holds_alternative<KeepAlive>(action)) socket_->keep_alive();
  if (std::holds_alternative<DropUnsent>(action)) socket_->drop_unsent();
  if (const auto* const make = std::get_if<MakeLayout>(&action)) {
    const auto ranks = make_layout(make->welcome);
    machine_->welcomed(ranks, Clock::monotonic());
  }
  if (const auto* const group = std::get_if<OpenGroup>(&action)) {
    const auto opened = open(group->open);
    if (opened || machine_->over()) return machine_->opened(opened, Clock::monotonic());
    give_up(opened.error());
  }
  if (const auto* const begun = std::get_if<BeginGroup>(&action)) begin(begun->group);
  const auto* const news = std::get_if<TensorNews>(&action);
  if (news == nullptr) return;
  if (const auto* const refused = std::get_if<RefuseNote>(news)) events_.refused(*refused);
  if (const auto* const counted = std::get_if<CountNote>(news)) events_.counted(*counted);
  if (const auto* const missing = std::get_if<MissingNote>(news)) events_.missing(*missing);
  if (const auto* const watched = std::get_if<WatchNote>(news)) events_.watch(*watched);
}

Result<std::size_t> SessionMember::make_layout(const Note& note) {
  const auto welcome = content_of<WelcomeNote>(note);
  if (!welcome) return tl::unexpected(welcome.error());
  auto layout = SessionLayout::of(*welcome);
  if (!layout) return tl::unexpected(layout.error());
  layout_ = std::move(*layout);
  peers_.self = layout_->machine(settings_.role);
  peers_.machines = welcome->machines;
  peers_.nics = layout_->nics(peers_.self);
  peers_.transport = welcome->transport;
  peers_.encrypt = welcome->encrypt;
  peers_.patience = Duration::from_seconds(settings_.patience);
  return layout_->ranks();
}

void SessionMember::begin(int group) {
  Opened& opened = groups_.at(group);
  opened.group->begin();
  events_.begun(*opened.group, opened.tensors);
}

// For kept tensors, the groups of all ranks share one plan.
Result<void> SessionMember::plan(const OpenNote& note, bool kept, MachineId self) {
  if (kept && note.tensors == batch_.tensors) return {};
  auto plan = kept ? layout_->kept_plan(note.tensors) : layout_->plan(note.tensors, note.ranks);
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
  settings.peers.watch = [this] { return listen(); };
  settings.dispatch = layout_->dispatch();
  settings.workers = settings_.threads > 0 ? settings_.threads : std::min(4, share_of_cpus(settings_));
  settings.io_threads = std::min(kMostIoThreads, share_of_cpus(settings_));
  const std::vector<MachineId> machines = layout_->machines(cluster, note.ranks);
  settings.peers.machines.clear();
  for (std::size_t i = 0; i < machines.size(); ++i) {
    if (machines[i] == peers_.self) settings.peers.self = MachineId(i);
    settings.peers.machines.push_back(peers_.machines[machines[i].index()]);
  }
  if (!settings_.role.server || note.ranks.empty()) return settings;
  const int alike = static_cast<int>(layout_->ranks() / note.ranks.size());  // such groups on this server
  settings.workers = std::max(1, settings.workers / alike);
  settings.io_threads = std::max(1, settings.io_threads / alike);
  return settings;
}

Result<OpenedNote> SessionMember::open(const OpenNote& note) {
  const bool kept = std::any_of(note.tensors.begin(), note.tensors.end(),
                                [](const TensorNote& tensor) { return tensor.kept; });
  const auto token = token_from(note.token);
  if (!token) return tl::unexpected(token.error());
  const auto cluster = layout_->cluster(note.ranks, kept);
  const auto failed = [&](const Error& error) {
    return failure(layout_->with_roles(error.text, *cluster, note.ranks));
  };
  const GroupSettings settings = group_settings(note, *cluster, *token);
  if (auto planned = plan(note, kept, settings.peers.self); !planned) return failed(planned.error());
  auto group = Group::open(batch_.plan, batch_.kept, settings, listeners_,
                           [this](const std::shared_ptr<Transfer>& transfer) { events_.done(transfer); });
  if (!group) return failed(group.error());
  groups_[note.group] = {note.tensors, cluster, note.ranks, std::move(*group)};
  return OpenedNote{note.group, batch_.plan->hash};
}

}  // namespace weir::real
