#include "backends/real/wire/shm/shm_mover.h"

#include <algorithm>
#include <cstring>

#include "backends/real/process/clock.h"

namespace weir::real::shm {
namespace {

constexpr std::size_t kCopiedTurn = 1 << 20;  // bytes to copy before words and other channels get their turn

}  // namespace

void ShmMover::Runs::advance(std::size_t bytes) {
  done += bytes;
  if (done < parts[part].size()) return;
  done = 0;
  ++part;
}

void ShmMover::expect(const Op& receive, std::uint64_t round) {
  expected_.add(receive, round, context_->piece(receive.message, place_).size(receive.into.size));
  words_.say({Frame::Kind::kReady, receive.message, round, Bytes(0), Duration(0)});
}

void ShmMover::start(const Op& send, std::uint64_t round) {
  const Plan& plan = *context_->plan;
  const Op& receive = plan.op(plan.messages()[send.message.index()].receive);
  const Piece piece = context_->piece(send.message, place_);
  Flight flight = {&send, round, Clock::monotonic(), {}, {}};
  flight.from.parts = cut(context_->buffers->bytes(send.from, send.dtype), piece);
  flight.into.parts = cut(memory_->bytes(receive.into, receive.dtype), piece);
  outgoing_.push_back(std::move(flight));
  rooms_.start(send.message);
}

void ShmMover::say_alive() {
  if (!words_.pending()) words_.say({});
}

Result<void> ShmMover::read_words() {
  for (;;) {
    const auto word = words_.read();
    if (!word) return tl::unexpected(word.error());
    if (!*word) return {};
    if ((*word)->kind == Frame::Kind::kAlive) continue;
    const bool landed = (*word)->kind == Frame::Kind::kLanded;
    auto right = landed ? land(**word) : rooms_.take(*context_, peer_, **word);
    if (!right) return right;
  }
}

Result<void> ShmMover::land(const Frame& word) {
  const auto receive = expected_.take(word);
  if (!receive) return tl::unexpected(receive.error());
  const std::int64_t begun = Clock::monotonic().ns() - word.took.ns();
  report_done(*context_, **receive, Instant(begun));
  return {};
}

// Copies up to `most` bytes of the next runs, and returns how many. The two ends may cut runs differently.
std::size_t ShmMover::copy(Flight& flight, std::size_t most) {
  std::size_t copied = 0;
  while (copied < most && !flight.from.finished()) {
    const auto from = flight.from.rest();
    const auto into = flight.into.rest();
    const std::size_t bytes = std::min({from.size(), into.size(), most - copied});
    std::memcpy(into.data(), from.data(), bytes);
    flight.from.advance(bytes);
    flight.into.advance(bytes);
    copied += bytes;
  }
  return copied;
}

Result<void> ShmMover::write_data() {
  std::size_t copied = 0;
  while (!outgoing_.empty() && copied < kCopiedTurn) {
    Flight& flight = outgoing_.front();
    copied += copy(flight, kCopiedTurn - copied);
    if (!flight.from.finished()) continue;
    const Op& send = *flight.op;
    const Bytes size = context_->piece(send.message, place_).size(send.from.size);
    words_.say({Frame::Kind::kLanded, send.message, flight.round, size, Clock::monotonic() - flight.started});
    if (auto written = words_.write(); !written) return written;
    report_done(*context_, send, flight.started);
    outgoing_.pop_front();
  }
  return {};
}

}  // namespace weir::real::shm
