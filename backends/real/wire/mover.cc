#include "backends/real/wire/mover.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/real/process/clock.h"
#include "core/base/check.h"

namespace weir::real {

Result<void> Rooms::take(const MoverContext& context, MachineId peer, const Frame& word) {
  const auto messages = context.plan->messages();
  if (word.kind != Frame::Kind::kReady || word.message.index() >= messages.size()) {
    return failure("it sent a word that fits no message of the plan");
  }
  const Op& send = context.plan->op(messages[word.message.index()].send);
  if (send.machine != context.self || send.peer != peer) {
    return failure(fmt::format("it offered room for message {}, which it does not receive", word.message));
  }
  open_.resize(messages.size());
  if (open_[word.message.index()]) {
    return failure(fmt::format("it offered room for message {} twice before it was sent", word.message));
  }
  open_[word.message.index()] = true;
  if (!context.pieces->ready(word.message)) return {};
  Event event;
  event.kind = Event::Kind::kReady;
  event.op = send.id;
  event.round = word.round;
  context.inbox->put(std::move(event));
  return {};
}

void Rooms::start(MessageId message) {
  WEIR_CHECK(message.index() < open_.size() && open_[message.index()], message);
  open_[message.index()] = false;
}

void report_done(const MoverContext& context, const Op& op, Instant started) {
  const auto begun = context.pieces->done(op.message, started);
  if (!begun) return;
  Event event;
  event.op = op.id;
  event.started = *begun;
  event.at = Clock::monotonic();
  context.inbox->put(std::move(event));
}

Result<const Op*> Expected::take(const Frame& word) {
  const auto entry = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& one) {
    return one.op->message == word.message && one.round == word.round;
  });
  if (entry == entries_.end()) {
    return failure(fmt::format("it sent message {} of round {}, which this machine does not expect",
                               word.message, word.round));
  }
  if (word.size != entry->size) {
    return failure(fmt::format("it sent {} bytes as message {}; expected {}", word.size.count(), word.message,
                               entry->size.count()));
  }
  const Op* op = entry->op;
  *entry = entries_.back();
  entries_.pop_back();
  return op;
}

}  // namespace weir::real
