#include "backends/real/session/session.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>

namespace weir::real {
namespace {

constexpr Duration kHandoverSlice{5'000'000};  // how often hand-overs are reported to the leader
constexpr std::chrono::seconds kSpeed{10};
constexpr std::chrono::seconds kShortest{1};

}  // namespace

Outcome<std::unique_ptr<Session>> Session::join(const SessionSettings& settings, const std::string& version) {
  std::unique_ptr<Session> session(new Session(settings));
  if (settings.role.number == 0) {
    auto layout = SessionLayout::make({settings.size, settings.servers, settings.strategy, settings.topology,
                                       settings.settings, settings.options, settings.nic_rate});
    if (!layout) return refusal(SessionStatus::kInvalid, layout.error().text);
    // A rank without others leads nobody, but wrong settings are refused as with several ranks.
    if (settings.size == 1 && settings.servers == 0) return session;
    const auto key = session_key(settings);
    if (!key) return refusal(SessionStatus::kInvalid, key.error().text);
    auto socket = ControlSocket::listen(*key);
    if (!socket) return refusal(SessionStatus::kSystem, socket.error().text);
    const LeaderSettings how = {version, settings.transport, settings.encrypt,
                                Duration::from_seconds(settings.patience),
                                Duration::from_seconds(settings.warn_after)};
    session->leader_ = std::make_unique<Leader>(std::move(*socket), std::move(*layout), how);
  }
  auto member = SessionMember::join(settings, version, *session);
  if (!member) return refusal(SessionStatus::kLost, member.error().text);
  session->member_ = std::move(*member);
  session->thread_ = std::thread([raw = session.get()] { raw->run(); });
  return session;
}

Session::~Session() {
  {
    const std::lock_guard lock(mutex_);
    if (!ended_ && !give_up_)
      give_up_ = SessionError{SessionStatus::kLost, fmt::format("{} has ended", text(settings_.role))};
  }
  if (thread_.joinable()) thread_.join();
}

// Sends what other threads have queued for the leader, and handles what the leader says.
void Session::run() {
  while (true) {
    std::vector<DeclareNote> declare;
    RoundsNote rounds;
    std::vector<RefuseNote> refuse;
    std::vector<std::string> ask;
    std::optional<SessionError> give_up;
    std::optional<LeaveNote> leave;
    {
      const std::lock_guard lock(mutex_);
      declare.swap(to_declare_);
      rounds = rounds_.unreported();
      refuse.swap(to_refuse_);
      ask.swap(to_ask_);
      give_up = give_up_;
      if (std::exchange(leave_, false)) {
        leave.emplace();
        for (const auto& [name, tensor] : tensors_) leave->given.push_back({name, tensor.given});
      }
    }
    for (const DeclareNote& note : declare) member_->say(note);
    if (!rounds.rounds.empty()) member_->say(rounds);
    for (const RefuseNote& note : refuse) member_->say(note);
    for (const std::string& name : ask) member_->say(AskNote{name});
    if (leave) member_->say(*leave);
    if (give_up) {
      const Error cause = member_->fail(Error{give_up->text});
      return end(give_up->status, cause.text);
    }
    const auto served = member_->serve(kHandoverSlice);
    if (!served) return end(SessionStatus::kLost, served.error().text);
    if (*served) {
      member_.reset();
      return end(SessionStatus::kState, "the session is over");
    }
  }
}

void Session::end(SessionStatus status, const std::string& text) {
  const std::lock_guard lock(mutex_);
  ended_ = SessionError{status, text};
  changed_.notify_all();
}

void Session::begun(Group& group, const std::vector<TensorNote>& tensors) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    Tensor& tensor = tensors_[tensors[i].name];
    tensor.group = &group;
    tensor.place = i;
    for (std::shared_ptr<Transfer>& transfer : tensor.waiting)
      group.application().give(i, std::move(transfer));
    tensor.waiting.clear();
  }
}

void Session::count_arrived(Bytes size) {
  const Moment now = std::chrono::steady_clock::now();
  arrived_.emplace_back(now, size.count());
  while (now - arrived_.front().first > kSpeed) arrived_.pop_front();
}

void Session::done(const std::shared_ptr<Transfer>& transfer) {
  const std::lock_guard lock(mutex_);
  const auto handle = handles_.find(transfer.get());
  if (handle == handles_.end()) return;
  ways_[handle->second].done = true;
  handles_.erase(handle);
  count_arrived(transfer->size);
  changed_.notify_all();
}

// Call it with the lock held. It releases the lock for a while.
void Session::refuse(const std::string& name, const std::string& why, std::unique_lock<std::mutex>& lock) {
  Tensor& tensor = tensors_[name];
  if (!tensor.refused.empty()) return;
  tensor.waiting.clear();
  // withdraw() waits for workers that copy. Without the lock, nobody waits for this thread meanwhile.
  Group* const group = tensor.group;
  const std::size_t place = tensor.place;
  lock.unlock();
  if (group != nullptr) group->application().withdraw(place);
  lock.lock();
  tensor.refused = why;
}

void Session::refused(const RefuseNote& note) {
  std::unique_lock lock(mutex_);
  const std::string why =
      note.name.empty()
          ? fmt::format("tensors without a name differ: {}; from now on give them names", note.why)
          : fmt::format("tensor '{}': {}", note.name, note.why);
  for (const std::string& name : rounds_.refuse(note.name, why)) refuse(name, why, lock);
  changed_.notify_all();
}

void Session::watch(const WatchNote& note) {
  const std::lock_guard lock(mutex_);
  rounds_.watch(note);
}

void Session::counted(const CountNote& note) {
  std::int64_t times = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto tensor = tensors_.find(note.name);
    if (tensor != tensors_.end()) times = tensor->second.given;
  }
  member_->say(CountedNote{note.name, times});
}

void Session::missing(const MissingNote& note) {
  const std::lock_guard lock(mutex_);
  if (note.left) somebody_left_ = true;
  missing_[note.name] = note;
  changed_.notify_all();
}

void Session::ending() {
  const std::lock_guard lock(mutex_);
  ending_ = true;
}

Outcome<void> Session::check_open() const {
  if (ended_) return tl::unexpected(*ended_);
  return {};
}

// Whether this session allows such a tensor.
Outcome<void> Session::check(const TensorNote& note) const {
  const std::vector<int>& ranks = note.ranks;
  const auto wrong = [&](const std::string& why) {
    return refusal(SessionStatus::kInvalid,
                   fmt::format("tensor '{}': ranks {}: {}", note.name, fmt::join(ranks, ", "), why));
  };
  if (!ranks.empty()) {
    if (std::adjacent_find(ranks.begin(), ranks.end(), std::greater_equal<>()) != ranks.end())
      return wrong("expected different ones in ascending order");
    if (ranks.front() < 0 || ranks.back() >= settings_.size)
      return wrong(fmt::format("expected 0 to {}", settings_.size - 1));
    if (!std::binary_search(ranks.begin(), ranks.end(), settings_.role.number))
      return wrong(fmt::format("{} is not one of them", text(settings_.role)));
    if (note.kept) return wrong("a kept tensor is kept for all ranks");
  }
  if (!note.kept || settings_.servers > 0) return {};
  return refusal(
      SessionStatus::kInvalid,
      fmt::format("tensor '{}' needs CPU machines that keep it, but the session has none: start some "
                  "(weirrun --servers 1, or WEIR_SERVERS)",
                  note.name));
}

// The tensor of that name. If it is new, also adds it to `fresh`.
Outcome<Session::Tensor*> Session::known(const TensorNote& tensor, DeclareNote& fresh) {
  if (auto can = check(tensor); !can) return tl::unexpected(can.error());
  if (const std::string why = rounds_.refused(tensor.name); !why.empty())
    return refusal(SessionStatus::kMismatch, why);
  TensorNote note = tensor;
  note.name = rounds_.name(tensor);
  const auto [at, is_new] = tensors_.try_emplace(note.name);
  Tensor& one = at->second;
  if (!one.refused.empty()) return refusal(SessionStatus::kMismatch, one.refused);
  if (is_new) {
    one.note = note;
    rounds_.add(tensor.name, note);
    if (is_shared(note)) fresh.tensors.push_back(note);
  } else if (!alike(one.note, note)) {
    const std::string why = fmt::format("it has {} now, but had {} before", text(note), text(one.note));
    if (is_shared(one.note)) to_refuse_.push_back({note.name, why});
    return refusal(SessionStatus::kMismatch, fmt::format("tensor '{}': {}", note.name, why));
  }
  return &one;
}

Outcome<void> Session::declare(const std::vector<TensorNote>& tensors) {
  const std::lock_guard lock(mutex_);
  if (auto open = check_open(); !open) return open;
  for (const TensorNote& note : tensors) {
    if (auto can = check(note); !can) return can;
  }
  DeclareNote fresh;
  Outcome<void> all;
  for (const TensorNote& note : tensors) {
    if (auto tensor = known(note, fresh); !tensor) {
      all = tl::unexpected(tensor.error());
      break;
    }
  }
  if (!fresh.tensors.empty()) to_declare_.push_back(std::move(fresh));
  return all;
}

Outcome<Handle> Session::give(const TensorNote& tensor, Way way) {
  DeclareNote fresh;
  const auto found = known(tensor, fresh);
  if (!found) return tl::unexpected(found.error());
  if (!fresh.tensors.empty()) to_declare_.push_back(std::move(fresh));
  Tensor& one = **found;
  ++one.given;
  const Handle handle = next_++;
  Transfer& transfer = *way.transfer;
  transfer.name = one.note.name;
  if (is_shared(one.note)) rounds_.take(tensor.name, one.note);
  if (!is_shared(one.note)) {
    if (transfer.out != transfer.in && transfer.device == -1)
      std::memcpy(transfer.out, transfer.in, static_cast<std::size_t>(transfer.size.count()));
    count_arrived(transfer.size);
    way.done = true;
  } else {
    handles_[&transfer] = handle;
    if (one.group != nullptr && !ending_) {
      one.group->application().give(one.place, way.transfer);
    } else {
      one.waiting.push_back(way.transfer);
    }
  }
  ways_.emplace(handle, std::move(way));
  return handle;
}

Outcome<Handle> Session::push_pull(const TensorNote& tensor, const void* in, void* out, TensorMemory on) {
  std::unique_ptr<GpuMoment> written;
  if (on.device >= 0) {
    auto moment = GpuMoment::record(on.device, on.stream);
    if (!moment) return refusal(SessionStatus::kInvalid, fmt::format("device: {}", moment.error().text));
    written = std::move(*moment);
  }
  const std::lock_guard lock(mutex_);
  if (auto open = check_open(); !open) return tl::unexpected(open.error());
  TensorNote note = tensor;
  if (const auto declared = tensors_.find(note.name); declared != tensors_.end())
    note.ranks = declared->second.note.ranks;
  Way way;
  way.began = std::chrono::steady_clock::now();
  way.transfer =
      std::make_shared<Transfer>(Transfer{"", static_cast<const std::byte*>(in), static_cast<std::byte*>(out),
                                          size(note.dtype) * note.elements, on.device, std::move(written)});
  if (!is_shared(note) && on.device >= 0 && in != out) {
    auto copied = copy_in_stream(on.device, on.stream, out, in, way.transfer->size);
    if (!copied) return refusal(SessionStatus::kInvalid, fmt::format("device: {}", copied.error().text));
  }
  return give(note, std::move(way));
}

Outcome<Handle> Session::accumulate(const TensorNote& tensor, const void* delta, void* weights,
                                    TensorMemory on) {
  if (tensor.name.empty()) return refusal(SessionStatus::kInvalid, "a tensor that is kept needs a name");
  TensorNote note = tensor;
  note.kept = true;
  return push_pull(note, delta, weights, on);
}

// Works as a sum of integers: the root gives its bytes, everybody else zeros. Each rank also appends the root
// that it named, and its square. Their sums show whether all named the same root.
Outcome<Handle> Session::broadcast(const std::string& name, void* data, std::int64_t bytes, int root,
                                   const std::string& kind) {
  if (root < 0 || root >= settings_.size)
    return refusal(SessionStatus::kInvalid, fmt::format("root: there is no rank {}", root));
  const std::lock_guard lock(mutex_);
  if (auto open = check_open(); !open) return tl::unexpected(open.error());
  TensorNote note;
  note.dtype = Dtype::kI32;
  const std::int64_t each = size(note.dtype).count();
  note.elements = (bytes + each - 1) / each + kRootWords;
  if (!name.empty()) note.name = "broadcast." + name;
  note.kind = kind;
  note.bytes = bytes;
  Way way;
  way.began = std::chrono::steady_clock::now();
  way.copy.resize(static_cast<std::size_t>(note.elements * each));
  way.back = static_cast<std::byte*>(data);
  way.bytes = static_cast<std::size_t>(bytes);
  way.root = root;
  if (settings_.role.number == root && bytes > 0) std::memcpy(way.copy.data(), data, way.bytes);
  const auto number = static_cast<std::uint32_t>(root);
  const std::array<std::uint32_t, kRootWords> named = {number, number * number};
  std::memcpy(way.copy.data() + way.copy.size() - sizeof named, named.data(), sizeof named);
  way.transfer = std::make_shared<Transfer>(
      Transfer{"", way.copy.data(), way.copy.data(), Bytes(note.elements * each), -1, nullptr});
  return give(note, std::move(way));
}

void Session::abort(const std::string& why) {
  std::unique_lock lock(mutex_);
  if (!thread_.joinable() || ended_) return;
  if (!give_up_) give_up_ = SessionError{SessionStatus::kLost, why};
  changed_.wait(lock, [&] { return ended_.has_value(); });
}

double Session::speed() {
  const std::lock_guard lock(mutex_);
  std::int64_t bytes = 0;
  const Moment now = std::chrono::steady_clock::now();
  while (!arrived_.empty() && now - arrived_.front().first > kSpeed) arrived_.pop_front();
  for (const auto& [at, size] : arrived_) bytes += size;
  return arrived_.empty() ? 0.0
                          : static_cast<double>(bytes) /
                                std::chrono::duration<double>(std::max<std::chrono::nanoseconds>(
                                                                  now - arrived_.front().first, kShortest))
                                    .count();
}

Outcome<void> serve_session(const SessionSettings& settings, const std::string& version) {
  class Quiet final : public MemberEvents {
  } quiet;
  auto member = SessionMember::join(settings, version, quiet);
  if (!member) return refusal(SessionStatus::kLost, member.error().text);
  while (true) {
    constexpr Duration kPatience{100'000'000};
    const auto served = (*member)->serve(kPatience);
    if (!served) return refusal(SessionStatus::kLost, served.error().text);
    if (*served) return {};
  }
}

}  // namespace weir::real
