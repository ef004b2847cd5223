#include "backends/real/wire/tcp/tcp_mover.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/real/process/clock.h"

namespace weir::real::tcp {
namespace {

constexpr std::size_t kTcpTurn = 4 << 20;  // bytes that a channel moves before others get their turn
constexpr std::size_t kMostVectors = 64;   // in one system call

}  // namespace

void TcpMover::expect(const Op& receive, std::uint64_t round) {
  expected_.add(receive, round, context_->piece(receive.message, place_).size(receive.into.size));
  words_.say({Frame::Kind::kReady, receive.message, round, Bytes(0), Duration(0)});
}

void TcpMover::say_alive() {
  if (!words_.pending()) words_.say({});
}

void TcpMover::start(const Op& send, std::uint64_t round) {
  const Piece piece = context_->piece(send.message, place_);
  Flight flight;
  flight.op = &send;
  flight.header = encode({Frame::Kind::kData, send.message, round, piece.size(send.from.size), Duration(0)});
  flight.parts = cut(context_->buffers->bytes(send.from, send.dtype), piece);
  outgoing_.push_back(std::move(flight));
  rooms_.start(send.message);
}

Result<void> TcpMover::read_words() {
  for (;;) {
    const auto word = words_.read();
    if (!word) return tl::unexpected(word.error());
    if (!*word) return {};
    if ((*word)->kind == Frame::Kind::kAlive) continue;
    if (auto right = rooms_.take(*context_, peer_, **word); !right) return right;
  }
}

std::size_t TcpMover::gather(const Flight& flight, std::vector<iovec>& into) {
  std::size_t bytes = 0;
  std::size_t done = flight.done;
  for (std::size_t i = flight.part; i < flight.parts.size() && into.size() < kMostVectors; ++i) {
    const auto rest = flight.parts[i].subspan(done);
    done = 0;
    into.push_back({rest.data(), rest.size()});
    bytes += rest.size();
  }
  return bytes;
}

void TcpMover::advance(Flight& flight, std::size_t bytes) {
  flight.done += bytes;
  while (flight.part < flight.parts.size() && flight.done >= flight.parts[flight.part].size()) {
    flight.done -= flight.parts[flight.part].size();
    ++flight.part;
  }
}

Result<std::size_t> TcpMover::send(std::size_t most) {
  if (pace_ == nullptr) return data_.send(vectors_);
  const Instant now = Clock::monotonic();
  const std::size_t may = pace_->take(this, most, now);
  if (may == 0) {
    held_until_ = pace_->next(this, now);
    return std::size_t{0};
  }
  std::size_t rest = may;
  for (iovec& vector : vectors_) {
    vector.iov_len = std::min(vector.iov_len, rest);
    rest -= vector.iov_len;
  }
  auto sent = data_.send(vectors_);
  if (sent) pace_->give_back(may - *sent);
  return sent;
}

Result<void> TcpMover::write_data() {
  held_until_.reset();
  std::size_t moved = 0;
  while (!outgoing_.empty() && moved < kTcpTurn) {
    Flight& flight = outgoing_.front();
    vectors_.clear();
    const std::size_t header_left = kFrameSize - header_sent_;
    if (header_left > 0) vectors_.push_back({flight.header.data() + header_sent_, header_left});
    const auto sent = send(std::min(kTcpTurn, header_left + gather(flight, vectors_)));
    if (!sent) return tl::unexpected(sent.error());
    if (*sent == 0) break;
    context_->inbox->count(*sent);
    moved += *sent;
    const std::size_t of_header = std::min(*sent, header_left);
    header_sent_ += of_header;
    advance(flight, *sent - of_header);
    if (header_sent_ < kFrameSize || flight.part < flight.parts.size()) continue;
    report_done(*context_, *flight.op, flight.started);
    outgoing_.pop_front();
    header_sent_ = 0;
  }
  return data_.flush();
}

Result<void> TcpMover::begin_receive() {
  const auto word = decode(header_);
  if (!word) return tl::unexpected(word.error());
  if (word->kind != Frame::Kind::kData) return failure("it sent a word instead of a message");
  const auto receive = expected_.take(*word);
  if (!receive) return tl::unexpected(receive.error());
  incoming_ = {};
  incoming_.op = *receive;
  incoming_.started = Clock::monotonic();
  incoming_.parts = cut(context_->buffers->bytes((*receive)->into, (*receive)->dtype),
                        context_->piece((*receive)->message, place_));
  return {};
}

Result<void> TcpMover::read_data() {
  std::size_t moved = 0;
  while (moved < kTcpTurn || data_.holds()) {  // epoll would not report bytes that it holds
    if (incoming_.op == nullptr) {
      const iovec room = {header_.data() + header_got_, kFrameSize - header_got_};
      const auto got = data_.receive({&room, 1});
      if (!got) return tl::unexpected(got.error());
      if (*got == 0) return {};
      header_got_ += *got;
      if (header_got_ < kFrameSize) continue;
      header_got_ = 0;
      if (auto begun = begin_receive(); !begun) return begun;
    }
    vectors_.clear();
    if (gather(incoming_, vectors_) > 0) {
      const auto got = data_.receive(vectors_);
      if (!got) return tl::unexpected(got.error());
      if (*got == 0) return {};
      context_->inbox->count(*got);
      moved += *got;
      advance(incoming_, *got);
    }
    if (incoming_.part < incoming_.parts.size()) continue;
    report_done(*context_, *incoming_.op, incoming_.started);
    incoming_.op = nullptr;
  }
  return {};
}

}  // namespace weir::real::tcp
