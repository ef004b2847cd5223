#include "core/protocol/session_leader.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "core/base/units_text.h"

namespace weir {
namespace {

constexpr Duration kCounting{2'000'000'000};  // time for ranks to say how often they handed a tensor over

std::string list(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ", ")); }

std::size_t count_ranks(const std::vector<Role>& roles) {
  return static_cast<std::size_t>(
      std::count_if(roles.begin(), roles.end(), [](const Role& role) { return !role.server; }));
}

template <class T, class Take>
Result<void> with(const Note& note, const Take& take) {
  const auto content = content_of<T>(note);
  if (!content) return tl::unexpected(content.error());
  return take(*content);
}

}  // namespace

SessionLeader::SessionLeader(LeaderTerms terms, Instant now)
    : terms_(std::move(terms)),
      began_(now),
      warn_(now + terms_.warn_after),
      looked_(now),
      still_(now),
      members_(terms_.roles.size()),
      ranks_(count_ranks(terms_.roles)),
      tensors_(ranks_.size()) {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    members_[i].role = terms_.roles[i];
    if (!members_[i].role.server) ranks_[static_cast<std::size_t>(members_[i].role.number)] = i;
  }
}

bool SessionLeader::Count::whole() const {
  return std::all_of(times.begin(), times.end(), [](const auto& each) { return each.second.has_value(); });
}

template <class T>
void SessionLeader::send_to_all(const T& content, bool ranks_alone) {
  for (const Member& member : members_) {
    if (!member.connection.empty() && !(ranks_alone && member.role.server))
      send(note_of(content, member.connection));
  }
}

template <class T>
void SessionLeader::send_to_openers(const T& content) {
  for (const auto& [member, hash] : opening_) send(note_of(content, members_[member].connection));
}

std::optional<std::size_t> SessionLeader::sender(const Note& note, Instant now) {
  const auto from = std::find_if(members_.begin(), members_.end(), [&](const Member& member) {
    return !member.connection.empty() && member.connection == note.from;
  });
  if (from == members_.end()) return std::nullopt;
  from->silence.end(now);
  return static_cast<std::size_t>(from - members_.begin());
}

std::string SessionLeader::missing() const {
  std::vector<std::string> names;
  for (const Member& member : members_) {
    if (member.connection.empty()) names.push_back(text(member.role));
  }
  return list(names);
}

bool SessionLeader::all_have_left() const {
  return std::all_of(ranks_.begin(), ranks_.end(), [&](std::size_t rank) { return members_[rank].left; });
}

void SessionLeader::fail(const Error& why, Instant now) {
  error_ = why;
  // If the leader stood still, others may have taken it for lost, and then one another when the first of them
  // left.
  if (const auto still = still_.recently(now)) {
    error_->text += fmt::format(
        "; rank 0, which leads, itself stood still for {}, so others may have given it up", rounded(*still));
  }
  send_to_all(FailedNote{error_->text});
  phase_ = Phase::kOver;
}

void SessionLeader::stop(Instant now) {
  if (!over()) fail(Error{phase_ == Phase::kSeating ? "rank 0 has given up" : "rank 0 has ended"}, now);
}

void SessionLeader::hear(const Note& note, Instant now) {
  still_.notice(now);
  if (phase_ == Phase::kSeating) {
    hear_seating(note, now);
  } else if (phase_ == Phase::kLeading) {
    hear_leading(note, now);
  }
}

void SessionLeader::hear_seating(const Note& note, Instant now) {
  const auto known = sender(note, now);
  if (note.type == AliveNote::kType) return;
  if (note.type == FailedNote::kType && known)
    return fail(Error{fmt::format("{} (says {})", reason_in(note), text(members_[*known].role))}, now);
  if (auto seated = seat(note, now); !seated) return fail(seated.error(), now);
  if (!missing().empty()) return;
  AllSeated all;
  for (const Member& member : members_) all.places.push_back(member.place);
  actions_.emplace_back(std::move(all));
  phase_ = Phase::kLeading;
}

Result<void> SessionLeader::seat(const Note& note, Instant now) {
  const auto wish = content_of<SeatNote>(note);
  if (!wish) {
    send(note_of(FailedNote{wish.error().text}, note.from));
    return {};
  }
  const Role role = {wish->server, wish->number};
  const auto place = std::find(terms_.roles.begin(), terms_.roles.end(), role);
  const auto index = static_cast<std::size_t>(place - terms_.roles.begin());
  std::string wrong;
  if (place == terms_.roles.end()) {
    const std::size_t seats = role.server ? members_.size() - ranks_.size() : ranks_.size();
    wrong = fmt::format("there is no {}: the session has {} {}", text(role), seats,
                        role.server ? "servers" : "ranks");
  } else if (members_[index].connection == note.from) {
    return {};  // members repeat it until they are welcomed
  } else if (!members_[index].connection.empty()) {
    wrong = fmt::format("{} has joined already", text(role));
  }
  if (!wrong.empty()) {  // rejected; the session continues without it
    send(note_of(FailedNote{wrong}, note.from));
    return {};
  }
  Member& member = members_[index];
  member.connection = note.from;
  member.place = wish->place;
  member.silence.end(now);
  actions_.emplace_back(KeepAlive{note.from});
  if (wish->version == terms_.version) return {};
  return failure(fmt::format("{} runs version {}, but rank 0 runs {}; all must be the same", text(role),
                             wish->version, terms_.version));
}

void SessionLeader::welcome(Note note) {
  for (const Member& member : members_) {
    note.from = member.connection;
    send(note);
  }
}

void SessionLeader::hear_leading(const Note& note, Instant now) {
  const auto member = sender(note, now);
  if (note.type == AliveNote::kType) return;
  if (!member) return send(note_of(FailedNote{"the session has begun without it"}, note.from));
  if (note.type == SeatNote::kType) return;  // repeated before the welcome arrived
  const std::string who = text(members_[*member].role);
  if (note.type == FailedNote::kType)
    return fail(Error{fmt::format("{} (says {})", reason_in(note), who)}, now);
  if (auto taken = take(*member, note, now); !taken)
    return fail(Error{fmt::format("{}: {}", who, taken.error().text)}, now);
  if (all_have_left()) {
    send_to_all(GoodbyeNote{});
    phase_ = Phase::kOver;
    return;
  }
  answer_counts(now);
  if (auto opened = open_next(); !opened) fail(opened.error(), now);
}

Result<void> SessionLeader::take(std::size_t member, const Note& note, Instant now) {
  if (note.type == OpenedNote::kType)
    return with<OpenedNote>(note, [&](const OpenedNote& said) { return opened(member, said); });
  if (members_[member].role.server) return failure(fmt::format("a server must not send '{}'", note.type));
  return take_of_rank(member, note, now);
}

Result<void> SessionLeader::take_of_rank(std::size_t member, const Note& note, Instant now) {
  const int rank = members_[member].role.number;
  if (note.type == DeclareNote::kType)
    return with<DeclareNote>(note, [&](const DeclareNote& said) { return declare(rank, said); });
  if (note.type == RoundsNote::kType)
    return with<RoundsNote>(note, [&](const RoundsNote& said) { return rounds(rank, said); });
  if (note.type == RefuseNote::kType) {
    return with<RefuseNote>(note, [&](const RefuseNote& said) -> Result<void> {
      send_to_all(tensors_.refuse(said.name, fmt::format("rank {}: {}", rank, said.why)), true);
      return {};
    });
  }
  if (note.type == AskNote::kType) {
    return with<AskNote>(note, [&](const AskNote& said) -> Result<void> {
      ask(said.name, now);
      return {};
    });
  }
  if (note.type == CountedNote::kType) {
    return with<CountedNote>(note, [&](const CountedNote& said) -> Result<void> {
      const auto count = counts_.find(said.name);
      if (count == counts_.end()) return {};
      const auto asked = count->second.times.find(rank);
      if (asked != count->second.times.end()) asked->second = said.times;
      return {};
    });
  }
  if (note.type == LeaveNote::kType) {
    return with<LeaveNote>(note, [&](const LeaveNote& said) -> Result<void> {
      leave(member, said);
      return {};
    });
  }
  return failure(fmt::format("the leader does not expect '{}'", note.type.substr(0, 20)));
}

void SessionLeader::leave(std::size_t member, const LeaveNote& note) {
  members_[member].left = true;
  for (const CountedNote& one : note.given) members_[member].given[one.name] = one.times;
  send_to_all(MissingNote{"", text(members_[member].role), true}, true);
}

Result<void> SessionLeader::declare(int rank, const DeclareNote& note) {
  const auto refused = tensors_.declare(rank, note);
  if (!refused) return tl::unexpected(refused.error());
  for (const RefuseNote& one : *refused) send_to_all(one, true);
  return {};
}

Result<void> SessionLeader::rounds(int rank, const RoundsNote& note) {
  for (const RoundNote& round : note.rounds) {
    const TensorTable::Declared* const declared = tensors_.find(round.tensor);
    if (declared == nullptr)
      return failure(fmt::format("it hands over '{}' without declaring it first", round.tensor));
    const RoundTable::Finding found = rounds_.take(rank, round, declared->by.size());
    if (found.watch) send_to_all(WatchNote{round.label, round.round}, true);
    if (!found.wrong.empty()) send_to_all(RefuseNote{round.label, found.wrong}, true);
  }
  return {};
}

// Has its participants open the next group, once the previous one is open.
Result<void> SessionLeader::open_next() {
  if (!opening_.empty()) return {};
  std::optional<OpenNote> open = tensors_.next();
  if (!open) return {};
  auto token = terms_.token();
  if (!token) return tl::unexpected(token.error());
  open->group = groups_++;
  open->token = std::move(*token);
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (takes_part(members_[i].role, open->ranks)) opening_[i] = "";
  }
  send_to_openers(*open);
  return {};
}

Result<void> SessionLeader::opened(std::size_t member, const OpenedNote& note) {
  const auto opener = opening_.find(member);
  if (opener == opening_.end() || note.group != groups_ - 1)
    return failure("it has opened a group that is not being opened");
  opener->second = note.hash;
  std::set<std::string> hashes;
  for (const auto& [_, hash] : opening_) hashes.insert(hash);
  if (hashes.contains("")) return {};
  if (hashes.size() > 1)
    return failure("plans of the same tensors differ: the programs are different builds");
  send_to_openers(BeginNote{note.group});
  opening_.clear();
  return {};
}

void SessionLeader::ask(const std::string& name, Instant now) {
  // For a kept tensor, ranks can delay others only by not having declared it.
  const TensorTable::Declared* const known = tensors_.find(name);
  if (known != nullptr && known->tensor.kept) {
    Count declared;
    for (const auto& [rank, by] : known->by) declared.times[rank] = by ? 1 : 0;
    return answer(name, declared);
  }
  const auto [count, fresh] = counts_.try_emplace(name);
  if (!fresh) return;
  count->second.until = now + kCounting;
  for (const int rank : tensors_.ranks_of(name)) {
    const Member& asked = member(rank);
    std::optional<std::int64_t>& times = count->second.times[rank];
    if (asked.left) {
      const auto given = asked.given.find(name);
      times = given == asked.given.end() ? 0 : given->second;
    } else {
      send(note_of(CountNote{name}, asked.connection));
    }
  }
}

void SessionLeader::answer(const std::string& name, const Count& count) {
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
  send_to_all(MissingNote{name, list(who), left}, true);
}

void SessionLeader::answer_counts(Instant now) {
  for (auto count = counts_.begin(); count != counts_.end();) {
    if (!count->second.whole() && now < count->second.until) {
      ++count;
      continue;
    }
    answer(count->first, count->second);
    count = counts_.erase(count);
  }
}

void SessionLeader::tick(Instant now) {
  still_.notice(now);
  looked_ = now;
  if (over()) return;
  if (phase_ == Phase::kSeating && now - began_ > terms_.patience)
    return fail(Error{fmt::format("after {} these have not joined: {}", text(terms_.patience), missing())},
                now);
  if (phase_ == Phase::kSeating && now > warn_) {
    actions_.emplace_back(
        WarnUser{fmt::format("weir: for {} these have not joined: {}", rounded(now - began_), missing())});
    warn_ = now + terms_.warn_after;
  }
  if (phase_ == Phase::kLeading) answer_counts(now);
  for (Member& member : members_) {
    if (member.silence.length(now) > kSilence)
      return fail(Error{fmt::format("{} has said nothing for {}", text(member.role), text(kSilence))}, now);
  }
}

Instant SessionLeader::wake() const {
  Instant wake = looked_ + kLook;
  for (const auto& [name, count] : counts_) wake = std::min(wake, count.until);
  return wake;
}

}  // namespace weir
