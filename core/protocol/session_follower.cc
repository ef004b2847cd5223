#include "core/protocol/session_follower.h"

#include <algorithm>

namespace weir {
namespace {

constexpr Duration kAgain{500'000'000};  // time until it asks for its seat again

}  // namespace

SessionFollower::SessionFollower(FollowerTerms terms, Instant now)
    : terms_(std::move(terms)),
      until_(now + terms_.patience + kAfterLeader),
      said_(now),
      leader_("rank 0, which leads the session,", now) {
  actions_.emplace_back(KeepAlive{});
  send(note_of(terms_.seat));
}

void SessionFollower::hear(const Note& note, Instant now) {
  const bool first = leader_.hear(now);
  if (first && phase_ == Phase::kSeating) until_ = now + terms_.patience + kAfterLeader;
  if (over() || note.type == AliveNote::kType) return;
  if (note.type == FailedNote::kType || note.type == GoodbyeNote::kType) {
    actions_.emplace_back(DropUnsent{});
    return end(note.type == FailedNote::kType ? std::optional(Error{reason_in(note)}) : std::nullopt);
  }
  if (phase_ != Phase::kFailing) take(note, now);
}

void SessionFollower::take(const Note& note, Instant now) {
  const auto with = [&]<class T>(const Result<T>& content, const auto& take_it) {
    if (!content) return fail(content.error(), now);
    take_it(*content);
  };
  const auto pass_on = [&](const auto& said) { actions_.emplace_back(TensorNews(said)); };
  if (note.type == kWelcome && phase_ == Phase::kSeating) {
    phase_ = Phase::kWelcoming;
    actions_.emplace_back(MakeLayout{note});
  } else if (note.type == OpenNote::kType) {
    with(content_of<OpenNote>(note), [&](const OpenNote& said) { open(said, now); });
  } else if (note.type == BeginNote::kType) {
    with(content_of<BeginNote>(note), [&](const BeginNote& said) { begin(said, now); });
  } else if (note.type == RefuseNote::kType) {
    with(content_of<RefuseNote>(note), pass_on);
  } else if (note.type == CountNote::kType) {
    with(content_of<CountNote>(note), pass_on);
  } else if (note.type == MissingNote::kType) {
    with(content_of<MissingNote>(note), pass_on);
  } else if (note.type == WatchNote::kType) {
    with(content_of<WatchNote>(note), pass_on);
  } else {
    fail(
        Error{fmt::format("the leader sent '{}', which a follower does not expect", note.type.substr(0, 20))},
        now);
  }
}

void SessionFollower::welcomed(const Result<std::size_t>& ranks, Instant now) {
  if (phase_ != Phase::kWelcoming) return;
  if (!ranks) return fail(ranks.error(), now);
  ranks_ = *ranks;
  phase_ = Phase::kServing;
}

void SessionFollower::open(const OpenNote& note, Instant now) {
  if (phase_ != Phase::kServing || note.group <= last_opened_)
    return fail(Error{"the leader opens groups out of order"}, now);
  const bool kept = std::any_of(note.tensors.begin(), note.tensors.end(),
                                [](const TensorNote& tensor) { return tensor.kept; });
  const Role role = {terms_.seat.server, terms_.seat.number};
  if (!are_ranks(note.ranks, ranks_) || !takes_part(role, note.ranks) || (kept && note.ranks.size() != 1))
    return fail(Error{"the leader opens a group without this process"}, now);
  last_opened_ = note.group;
  phase_ = Phase::kOpening;
  actions_.emplace_back(OpenGroup{note});
}

void SessionFollower::opened(const Result<OpenedNote>& opened, Instant now) {
  if (phase_ != Phase::kOpening) return;
  if (!opened) return fail(opened.error(), now);
  waiting_.push_back(opened->group);
  send(note_of(*opened));
  phase_ = Phase::kServing;
}

void SessionFollower::begin(const BeginNote& note, Instant now) {
  const auto opened = std::find(waiting_.begin(), waiting_.end(), note.group);
  if (opened == waiting_.end()) return fail(Error{"the leader begins a group that is not open"}, now);
  waiting_.erase(opened);
  actions_.emplace_back(BeginGroup{note.group});
}

// Reports the failure to the leader. The verdict becomes this process's story too, since it may have failed
// only because another did. The leader may say goodbye instead: peers that heard it earlier are gone.
void SessionFollower::fail(const Error& own, Instant now) {
  if (phase_ >= Phase::kFailing) return;
  send(note_of(FailedNote{own.text}));
  error_ = own;
  phase_ = Phase::kFailing;
  leader_.await_verdict(now);
}

void SessionFollower::tick(Instant now) {
  const auto lost = leader_.look(now);
  if (over()) return;
  if (lost) {
    actions_.emplace_back(DropUnsent{});  // nobody is there to receive it
    end(*lost);
  } else if (phase_ == Phase::kFailing) {
    if (leader_.gives_no_verdict(now)) end(error_);
  } else if (phase_ == Phase::kSeating) {
    // An earlier `seat` may have gone to the leader of a previous session, which has ended since.
    if (now - said_ >= kAgain) {
      send(note_of(terms_.seat));
      said_ = now;
    }
    if (now >= until_) end(Error{terms_.not_admitted});
  }
}

void SessionFollower::end(std::optional<Error> error) {
  error_ = std::move(error);
  phase_ = Phase::kOver;
}

}  // namespace weir
