#include "backends/real/session/leader.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "backends/real/job/host.h"
#include "backends/real/process/clock.h"
#include "backends/real/wire/socket.h"
#include "core/base/units_text.h"

namespace weir::real {
namespace {

constexpr Duration kLeaderSlice{20'000'000};
constexpr Duration kCounting{2'000'000'000};  // for ranks to say how often they have handed a tensor over

std::string list(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ", ")); }

}  // namespace

Leader::Leader(std::unique_ptr<ControlSocket> socket, SessionLayout world, const LeaderSettings& settings)
    : socket_(std::move(socket)),
      world_(std::move(world)),
      settings_(settings),
      members_(world_.cluster().machines().size()) {
  for (std::size_t i = 0; i < members_.size(); ++i) members_[i].role = world_.role(MachineId(i));
  for (const MachineId rank : world_.cluster().gpu_machines()) ranks_.push_back(rank.index());
  thread_ = std::thread([this] { run(); });
}

Leader::~Leader() {
  stop_ = true;
  thread_.join();
}

void Leader::run() {
  if (const auto led = lead(); !led) tell_all(FailedNote{led.error().text});
}

template <class T>
void Leader::tell_all(const T& content, bool ranks_alone) {
  for (const Member& member : members_) {
    if (!member.connection.empty() && !(ranks_alone && member.role.server))
      socket_->send(note_of(content, member.connection));
  }
}

template <class T>
void Leader::tell_openers(const T& content) {
  for (const auto& [member, hash] : opening_) socket_->send(note_of(content, members_[member].connection));
}

std::vector<int> Leader::ranks_of(const TensorNote& tensor) const {
  if (!tensor.ranks.empty()) return tensor.ranks;
  std::vector<int> all(world_.ranks());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::optional<std::size_t> Leader::sender(const Note& note) {
  const auto from = std::find_if(members_.begin(), members_.end(), [&](const Member& member) {
    return !member.connection.empty() && member.connection == note.from;
  });
  if (from == members_.end()) return std::nullopt;
  from->silence.end(Clock::monotonic());
  return static_cast<std::size_t>(from - members_.begin());
}

Result<void> Leader::check_silence() {
  const Instant now = Clock::monotonic();
  for (Member& member : members_) {
    if (member.silence.length(now) > kSilence)
      return failure(
          fmt::format("{} has said nothing for {}", real::text(member.role), weir::text(kSilence)));
  }
  return {};
}

std::string Leader::missing() const {
  std::vector<std::string> names;
  for (const Member& member : members_) {
    if (member.connection.empty()) names.push_back(real::text(member.role));
  }
  return list(names);
}

Result<void> Leader::seat(const Note& note) {
  const auto wish = content_of<SeatNote>(note);
  if (!wish) {
    socket_->send(note_of(FailedNote{wish.error().text}, note.from));
    return {};
  }
  const Role role = {wish->server, wish->number};
  const std::size_t seats = role.server ? world_.servers() : world_.ranks();
  std::string wrong;
  if (static_cast<std::size_t>(role.number) >= seats) {
    wrong = fmt::format("there is no {}: the session has {} {}", real::text(role), seats,
                        role.server ? "servers" : "ranks");
  } else if (members_[world_.machine(role).index()].connection == note.from) {
    return {};  // members say it again until they are welcome
  } else if (!members_[world_.machine(role).index()].connection.empty()) {
    wrong = fmt::format("{} is there already", real::text(role));
  }
  if (!wrong.empty()) {  // turned away; the session goes on without it
    socket_->send(note_of(FailedNote{wrong}, note.from));
    return {};
  }
  Member& member = members_[world_.machine(role).index()];
  member.connection = note.from;
  member.place = wish->place;
  member.silence.end(Clock::monotonic());
  socket_->keep_alive(note.from);
  if (wish->version == settings_.version) return {};
  return failure(fmt::format("{} runs version {}, and rank 0 {}; all must be the same", real::text(role),
                             wish->version, settings_.version));
}

Result<void> Leader::seat_all() {
  const Instant began = Clock::monotonic();
  Instant warn = began + settings_.warn_after;
  while (!missing().empty()) {
    const Instant now = Clock::monotonic();
    if (stop_) return failure("rank 0 has given up");
    if (now - began > settings_.patience) {
      return failure(
          fmt::format("after {} these have not come: {}", weir::text(settings_.patience), missing()));
    }
    if (now > warn) {
      fmt::print(stderr, "weir: for {} these have not come: {}\n", rounded(now - began), missing());
      warn = now + settings_.warn_after;
    }
    const auto note = socket_->receive(kLeaderSlice);
    if (!note) {
      if (auto well = check_silence(); !well) return well;
      continue;
    }
    const auto known = sender(*note);
    if (note->type == AliveNote::kType) continue;
    if (note->type == FailedNote::kType && known)
      return failure(fmt::format("{} (says {})", reason_in(*note), real::text(members_[*known].role)));
    if (auto seated = seat(*note); !seated) return seated;
  }
  return {};
}

bool Leader::over() const {
  return std::all_of(ranks_.begin(), ranks_.end(), [&](std::size_t rank) { return members_[rank].left; });
}

Result<void> Leader::lead() {
  if (auto seated = seat_all(); !seated) return seated;
  WelcomeNote welcome = world_.welcome();
  for (const Member& member : members_) welcome.machines.push_back(member.place);
  welcome.transport = settings_.transport;
  welcome.encrypt = settings_.encrypt;
  tell_all(welcome);
  while (!over()) {
    if (stop_) return failure("rank 0 has ended");
    if (auto opened = open_next(); !opened) return opened;
    const auto note = socket_->receive(kLeaderSlice);
    const Instant now = Clock::monotonic();
    for (auto count = counts_.begin(); count != counts_.end();) {
      const auto& times = count->second.times;
      const bool whole =
          std::all_of(times.begin(), times.end(), [](const auto& each) { return each.second.has_value(); });
      if (!whole && now < count->second.until) {
        ++count;
        continue;
      }
      answer(count->first, count->second);
      count = counts_.erase(count);
    }
    if (!note) {
      if (auto well = check_silence(); !well) return well;
      continue;
    }
    const auto member = sender(*note);
    if (note->type == AliveNote::kType) continue;
    if (!member) {
      socket_->send(note_of(FailedNote{"the session has begun without it"}, note->from));
      continue;
    }
    if (note->type == SeatNote::kType) continue;  // said again before the welcome came
    const std::string who = real::text(members_[*member].role);
    if (note->type == FailedNote::kType) return failure(fmt::format("{} (says {})", reason_in(*note), who));
    if (auto taken = take(*member, *note); !taken)
      return failure(fmt::format("{}: {}", who, taken.error().text));
  }
  tell_all(GoodbyeNote{});
  return {};
}

Result<void> Leader::take(std::size_t member, const Note& note) {
  const auto with = [&]<class T>(const Result<T>& content, const auto& take_it) -> Result<void> {
    if (!content) return tl::unexpected(content.error());
    return take_it(*content);
  };
  if (note.type == OpenedNote::kType) {
    return with(content_of<OpenedNote>(note), [&](const OpenedNote& said) { return opened(member, said); });
  }
  if (members_[member].role.server) return failure(fmt::format("a server does not say '{}'", note.type));
  const int rank = members_[member].role.number;
  if (note.type == DeclareNote::kType) {
    return with(content_of<DeclareNote>(note), [&](const DeclareNote& said) { return declare(rank, said); });
  }
  if (note.type == RoundsNote::kType)
    return with(content_of<RoundsNote>(note), [&](const RoundsNote& said) { return turns(rank, said); });
  if (note.type == RefuseNote::kType) {
    return with(content_of<RefuseNote>(note), [&](const RefuseNote& said) -> Result<void> {
      refuse(said.name, fmt::format("rank {}: {}", rank, said.why));
      return {};
    });
  }
  if (note.type == AskNote::kType) {
    return with(content_of<AskNote>(note), [&](const AskNote& said) -> Result<void> {
      ask(said.name);
      return {};
    });
  }
  if (note.type == CountedNote::kType) {
    return with(content_of<CountedNote>(note), [&](const CountedNote& said) -> Result<void> {
      const auto count = counts_.find(said.name);
      if (count == counts_.end()) return {};
      const auto asked = count->second.times.find(rank);
      if (asked != count->second.times.end()) asked->second = said.times;
      return {};
    });
  }
  if (note.type == LeaveNote::kType) {
    return with(content_of<LeaveNote>(note), [&](const LeaveNote& said) -> Result<void> {
      members_[member].left = true;
      for (const CountedNote& one : said.given) members_[member].given[one.name] = one.times;
      tell_all(MissingNote{"", real::text(members_[member].role), true}, true);
      return {};
    });
  }
  return failure(fmt::format("nobody says '{}' here", note.type.substr(0, 20)));
}

Result<void> Leader::declare(int rank, const DeclareNote& note) {
  std::vector<std::string> batch;
  std::string wrong;  // of one of them, in words
  const auto refuse_one = [&](const std::string& name, const std::string& why) {
    refuse(name, why);
    if (wrong.empty()) wrong = fmt::format("declared together with '{}', of which {}", name, why);
  };
  for (const TensorNote& tensor : note.tensors) {
    const std::vector<int> ranks = ranks_of(tensor);
    if (!world_.has(ranks) || !SessionLayout::takes_part({false, rank}, ranks))
      return failure(fmt::format("it declares a tensor of ranks {}", fmt::join(ranks, ", ")));
    const auto [known, fresh] = declared_.try_emplace(tensor.name);
    Declared& declared = known->second;
    if (fresh) {
      declared.tensor = tensor;
      declared.first = rank;
      for (const int one : ranks) declared.by[one] = false;
    }
    if (declared.refused) {  // whoever declares it now has not been told
      refuse_one(tensor.name, "ranks had others before");
      continue;
    }
    const TensorNote& first = declared.tensor;
    if (!alike(tensor, first)) {
      refuse_one(tensor.name, fmt::format("rank {} has {}, and rank {} {}", declared.first,
                                          text(declared.tensor), rank, text(tensor)));
      continue;
    }
    declared.by[rank] = true;
    if (rank == ranks.front()) {
      declared.tensor.priority = tensor.priority;
      batch.push_back(tensor.name);
    }
  }
  if (!batch.empty()) batches_.push_back(std::move(batch));
  // Who is told goes no further: nobody must wait for the rest of what belongs together.
  for (const TensorNote& tensor : note.tensors) {
    if (!wrong.empty() && !declared_[tensor.name].refused) refuse(tensor.name, wrong);
  }
  return {};
}

void Leader::refuse(const std::string& name, const std::string& why) {
  declared_[name].refused = true;
  tell_all(RefuseNote{name, why}, true);
}

Result<void> Leader::turns(int rank, const RoundsNote& note) {
  for (const RoundNote& turn : note.turns) {
    const auto declared = declared_.find(turn.tensor);
    if (declared == declared_.end())
      return failure(fmt::format("it hands over '{}', which it has not declared", turn.tensor));
    const RoundTable::Finding found = turns_.take(rank, turn, declared->second.by.size());
    if (found.watch) tell_all(WatchNote{turn.label, turn.turn}, true);
    if (!found.wrong.empty()) tell_all(RefuseNote{turn.label, found.wrong}, true);
  }
  return {};
}

// What has become known to all its ranks since is to be opened: what is kept for each rank apart.
void Leader::gather() {
  std::map<std::vector<int>, OpenNote> summed;  // by ranks
  OpenNote kept;
  std::erase_if(batches_, [&](const std::vector<std::string>& batch) {
    const bool whole = std::all_of(batch.begin(), batch.end(), [&](const std::string& name) {
      return declared_[name].refused || declared_[name].known_to_all();
    });
    for (const std::string& name : batch) {
      const TensorNote& tensor = declared_[name].tensor;
      if (whole && !declared_[name].refused)
        (tensor.kept ? kept : summed[tensor.ranks]).tensors.push_back(tensor);
    }
    return whole;
  });
  for (auto& [ranks, open] : summed) {
    open.ranks = ranks;
    to_open_.push_back(std::move(open));
  }
  for (std::size_t rank = 0; rank < ranks_.size() && !kept.tensors.empty(); ++rank) {
    kept.ranks = {static_cast<int>(rank)};
    to_open_.push_back(kept);
  }
}

// Has those who take part open the next group, once the one before is open.
Result<void> Leader::open_next() {
  if (!opening_.empty()) return {};
  if (to_open_.empty()) gather();
  if (to_open_.empty()) return {};
  OpenNote open = std::move(to_open_.front());
  to_open_.pop_front();
  const auto token = make_token();
  if (!token) return tl::unexpected(token.error());
  open.group = groups_++;
  open.token = hexadecimal(*token);
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (SessionLayout::takes_part(members_[i].role, open.ranks)) opening_[i] = "";
  }
  tell_openers(open);
  return {};
}

Result<void> Leader::opened(std::size_t member, const OpenedNote& note) {
  const auto opener = opening_.find(member);
  if (opener == opening_.end() || note.group != groups_ - 1)
    return failure("it has opened what is not being opened");
  opener->second = note.hash;
  std::set<std::string> hashes;
  for (const auto& [_, hash] : opening_) hashes.insert(hash);
  if (hashes.contains("")) return {};
  if (hashes.size() > 1) return failure("plans of the same tensors differ: programs are of different builds");
  tell_openers(BeginNote{note.group});
  opening_.clear();
  return {};
}

void Leader::ask(const std::string& name) {
  // Of a kept tensor ranks hold up only who waits for them to know it, too.
  const auto known = declared_.find(name);
  if (known != declared_.end() && known->second.tensor.kept) {
    Count declared;
    for (const auto& [rank, by] : known->second.by) declared.times[rank] = by ? 1 : 0;
    return answer(name, declared);
  }
  const auto [count, fresh] = counts_.try_emplace(name);
  if (!fresh) return;
  count->second.until = Clock::monotonic() + kCounting;
  for (const int rank : ranks_of(known == declared_.end() ? TensorNote() : known->second.tensor)) {
    const Member& asked = member(rank);
    std::optional<std::int64_t>& times = count->second.times[rank];
    if (asked.left) {
      const auto given = asked.given.find(name);
      times = given == asked.given.end() ? 0 : given->second;
    } else {
      socket_->send(note_of(CountNote{name}, asked.connection));
    }
  }
}

void Leader::answer(const std::string& name, const Count& count) {
  std::int64_t most = 0;
  for (const auto& [rank, times] : count.times) most = std::max(most, times.value_or(0));
  std::vector<std::string> who;
  bool left = false;
  for (const auto& [rank, times] : count.times) {
    if (!times) {
      who.push_back(fmt::format("rank {}, which does not answer", rank));
    } else if (*times < most && member(rank).left) {
      who.push_back(fmt::format("rank {}, which has left the session", rank));
      left = true;
    } else if (*times < most) {
      who.push_back(fmt::format("rank {}", rank));
    }
  }
  tell_all(MissingNote{name, list(who), left}, true);
}

}  // namespace weir::real
