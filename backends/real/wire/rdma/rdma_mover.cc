#include "backends/real/wire/rdma/rdma_mover.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/real/process/clock.h"

namespace weir::real::rdma {
namespace {

constexpr int kTurn = 64;  // completions that a channel handles before others get their turn

// The size of a message's chunk when `left` chunks are left, including this one.
Bytes chunk_size(Bytes message, std::int64_t left) {
  const std::int64_t before = chunks_of(message) - left;
  return std::min(chunk_of(message), message - chunk_of(message) * before);
}

}  // namespace

void RdmaMover::expect(const Op& receive, std::uint64_t round) {
  busy();
  expected_.push_back({&receive, round, chunks_of(receive.into.size), busy_});
  words_.say({Frame::Kind::kReady, receive.message, round, Bytes(0), Duration(0)});
}

void RdmaMover::start(const Op& send, std::uint64_t round) {
  const Plan& plan = *context_->plan;
  const Op& receive = plan.op(plan.messages()[send.message.index()].receive);
  WEIR_CHECK(receive.into.size == send.from.size, send.id, round);
  outgoing_.push_back({&send, writes_of(*connection_, plan, *context_->buffers, send, receive), 0,
                       chunks_of(send.from.size), Clock::monotonic()});
  rooms_.start(send.message);
}

void RdmaMover::say_alive() {
  if (!words_.pending()) words_.say({});
  asked_ = true;
}

Result<void> RdmaMover::write_words() {
  if (std::exchange(asked_, false)) {
    if (auto well = connection_->pair->device().well(); !well) return well;
  }
  return words_.write();
}

Result<void> RdmaMover::read_words() {
  for (;;) {
    const auto word = words_.read();
    if (!word) return tl::unexpected(word.error());
    if (!*word) return {};
    if ((*word)->kind == Frame::Kind::kAlive) continue;
    const MessageId message = (*word)->message;
    if (!is_outgoing(message)) {
      if (auto right = rooms_.take(*context_, peer_, **word); !right) return right;
    } else if (!early_.emplace(message, **word).second) {
      return failure(fmt::format("it offered room for message {} twice before it ended", message));
    }
  }
}

bool RdmaMover::is_outgoing(MessageId message) const {
  return std::any_of(outgoing_.begin(), outgoing_.end(),
                     [&](const Outgoing& one) { return one.op->message == message; });
}

void RdmaMover::busy() {
  busy_ = Clock::monotonic();
  armed_ = false;
}

Result<void> RdmaMover::post() {
  QueuePair& pair = *connection_->pair;
  while (posted_ < outgoing_.size() && pair.room() > 0) {
    Outgoing& outgoing = outgoing_[posted_];
    if (auto posted = pair.post(outgoing.writes[outgoing.posted]); !posted) return posted;
    if (++outgoing.posted == outgoing.writes.size()) ++posted_;
    busy();
  }
  return {};
}

// One chunk of the first message has arrived in the peer's memory.
Result<void> RdmaMover::sent() {
  Outgoing& outgoing = outgoing_.front();
  const Bytes size = chunk_size(outgoing.op->from.size, outgoing.left);
  context_->inbox->count(static_cast<std::size_t>(size.count()));
  if (--outgoing.left > 0) return {};
  const MessageId message = outgoing.op->message;
  report_done(*context_, *outgoing.op, outgoing.started);
  outgoing_.pop_front();
  --posted_;
  const auto word = early_.extract(message);
  return word ? rooms_.take(*context_, peer_, word.mapped()) : Result<void>();
}

// Messages arrive one after the other. Each began when there was room for it and the one before had arrived.
Result<void> RdmaMover::landed(std::uint32_t message) {
  const auto incoming = std::find_if(expected_.begin(), expected_.end(),
                                     [&](const Incoming& one) { return one.op->message.value() == message; });
  if (incoming == expected_.end())
    return failure(fmt::format("it wrote message {}, which this machine does not expect", message));
  const Bytes size = chunk_size(incoming->op->into.size, incoming->left);
  context_->inbox->count(static_cast<std::size_t>(size.count()));
  if (--incoming->left > 0) return {};
  if (auto seen = context_->buffers->see_writes(incoming->op->into, incoming->op->dtype); !seen) return seen;
  report_done(*context_, *incoming->op, std::max(incoming->announced, landed_));
  landed_ = Clock::monotonic();
  *incoming = expected_.back();
  expected_.pop_back();
  return {};
}

// Returns whether anything had ended.
Result<bool> RdmaMover::reap() {
  for (int i = 0; i < kTurn; ++i) {
    const auto ended = connection_->pair->poll();
    if (!ended) return tl::unexpected(ended.error());
    if (!*ended) return i > 0;
    const auto right = (*ended)->received ? landed((*ended)->notice) : sent();
    if (!right) return tl::unexpected(right.error());
  }
  return true;
}

Result<void> RdmaMover::write_data() {
  while (true) {
    auto ended = reap();
    if (!ended) return tl::unexpected(ended.error());
    if (*ended) busy();
    if (auto posted = post(); !posted) return posted;
    if (armed_ || !waits() || Clock::monotonic() - busy_ < context_->poll) break;
    if (auto armed = connection_->pair->arm(); !armed) return armed;
    armed_ = true;
    // Nothing announces what ended before it was armed.
    ended = reap();
    if (!ended) return tl::unexpected(ended.error());
    if (!*ended) break;
    busy();
  }
  return words_.write();
}

Result<void> RdmaMover::read_data() {
  if (auto cleared = connection_->pair->clear_event(); !cleared) return cleared;
  busy();
  return write_data();
}

}  // namespace weir::real::rdma
