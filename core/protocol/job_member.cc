#include "core/protocol/job_member.h"

#include "core/base/units_text.h"

namespace weir {
JobMember::JobMember(const MemberTerms& terms, const Result<JoinNote>& join, Instant now)
    : terms_(terms), until_(now + terms.patience), coordinator_("the coordinator", now) {
  if (join) {
    send(note_of(*join));
    actions_.emplace_back(KeepAlive{});
  } else {
    fail(join.error(), now);
  }
}

void JobMember::enter(Phase phase, Instant now) {
  phase_ = phase;
  until_ = now + terms_.patience;
}

void JobMember::hear(const Note& note, Instant now) {
  const bool first = coordinator_.hear(now);
  if (first && phase_ == Phase::kJoining) until_ = now + terms_.patience + kAfterLeader;
  if (over() || note.type == AliveNote::kType) return;
  if (note.type != FailedNote::kType) return take(note, now);
  // The reason comes from the coordinator, so it need not be reported back.
  actions_.emplace_back(DropUnsent{});
  end(Error{reason_in(note)});
}

void JobMember::take(const Note& note, Instant now) {
  if (phase_ == Phase::kJoining) {
    if (note.type == AskClockNote::kType) return send(note_of(ClockNote{now.ns()}));
    if (note.type != kInputs) return fail(wrong_type(kInputs, note), now);
    enter(Phase::kPlanning, now);
    actions_.emplace_back(PlanInputs{note});
  } else if (phase_ == Phase::kPlanned) {
    if (note.type == MeetNote::kType) meet(note, now);
  } else if (phase_ == Phase::kMet) {
    if (note.type != AskClockNote::kType) return take_go(note, now);
    until_ = now + terms_.patience + kAfterLeader;
    send(note_of(ClockNote{now.ns()}));
  } else if (phase_ == Phase::kDone) {
    if (ahead_ && note.type == MeetNote::kType) {
      ahead_ = false;
      meet(note, now);
    } else if (!ahead_ && note.type == GoodbyeNote::kType) {
      actions_.emplace_back(DropUnsent{});
      end(std::nullopt);
    }
  }
}

void JobMember::planned(const Result<PlanReport>& planned, Instant now) {
  if (over()) return;
  if (!planned) return fail(planned.error(), now);
  ahead_ = planned->ahead;
  send(note_of(planned->note));
  enter(Phase::kPlanned, now);
}

void JobMember::meet(const Note& note, Instant now) {
  const auto content = content_of<MeetNote>(note);
  if (!content) return fail(content.error(), now);
  enter(Phase::kConnecting, now);
  actions_.emplace_back(ConnectPeers{*content, ahead_});
}

void JobMember::connected(const Result<void>& connected, Instant now) {
  if (over()) return;
  if (!connected) return fail(connected.error(), now);
  send(note_of(MetNote{}));
  enter(Phase::kMet, now);
  until_ = until_ + kAfterLeader;
}

void JobMember::take_go(const Note& note, Instant now) {
  const auto content = content_of<GoNote>(note);
  if (!content) return fail(content.error(), now);
  const Instant begin(content->begin);
  if (begin - now > terms_.patience)
    return fail(Error{fmt::format("the coordinator starts the run only {} from now", text(begin - now))},
                now);
  enter(Phase::kRunning, now);
  actions_.emplace_back(RunPlan{begin, ahead_});
}

void JobMember::ran(const Result<DoneNote>& done, Instant now) {
  if (over()) return;
  if (!done) return fail(done.error(), now);
  send(note_of(*done));
  enter(Phase::kDone, now);
}

void JobMember::tick(Instant now, Duration refused) {
  const auto lost = coordinator_.look(now);
  if (over()) return;
  if (lost) return end_unheard(*lost);
  if (phase_ == Phase::kFailing) {
    if (coordinator_.gives_no_verdict(now)) end(error_);
  } else if (phase_ == Phase::kJoining || phase_ == Phase::kMet) {
    check_reply(now, refused);
  }
}

void JobMember::check_reply(Instant now, Duration refused) {
  if (!coordinator_.heard() && refused > terms_.reach) {
    return end_unheard(Error{
        fmt::format("nobody has listened at the coordinator's address for {}: the job has ended, or the key "
                    "is an old one",
                    text(terms_.reach))});
  }
  if (now < until_) return;
  fail(Error{fmt::format("the coordinator has not sent '{}' for {}{}",
                         phase_ == Phase::kJoining ? kInputs : GoNote::kType, text(terms_.patience),
                         coordinator_.heard() ? "" : ": it is gone, or the key is another job's")},
       now);
}

// Reports the failure to the coordinator, and waits for its verdict with the connections to peers open. The
// cause becomes this machine's story too, since this machine may have failed only because another did.
void JobMember::fail(const Error& own, Instant now) {
  const bool connected = phase_ == Phase::kConnecting || phase_ == Phase::kMet || phase_ == Phase::kRunning;
  if (phase_ != Phase::kFailing) send(note_of(FailedNote{own.text}));
  error_ = own;
  if (!connected) return end(own);
  phase_ = Phase::kFailing;
  coordinator_.await_verdict(now);
}

void JobMember::end(std::optional<Error> error) {
  error_ = std::move(error);
  phase_ = Phase::kOver;
}

// Ends without a report, because nobody is there to receive it.
void JobMember::end_unheard(const Error& why) {
  actions_.emplace_back(DropUnsent{});
  end(why);
}

}  // namespace weir
