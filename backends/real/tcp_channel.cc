#include "backends/real/tcp_channel.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "backends/real/clock.h"
#include "core/base/units_text.h"

namespace weir::real {
namespace {

constexpr std::size_t kTurn = 4 << 20;    // bytes that a channel moves before others have their turn
constexpr std::size_t kMostVectors = 64;  // of one system call

// Bytes moved; 0 if there is nothing to move now; fails if the connection is lost.
Result<std::size_t> moved(ssize_t result, bool reading) {
  if (result > 0) return static_cast<std::size_t>(result);
  if (result == 0 && reading) return failure("it closed the connection");
  if (result == 0 || errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return std::size_t{0};
  return failure(reason(errno));
}

}  // namespace

void TcpChannel::expect(const Op& receive, std::uint64_t round) {
  expected_.push_back({&receive, round});
  const FrameBytes word = encode({Frame::Kind::kReady, receive.message, round, Bytes(0)});
  words_out_.insert(words_out_.end(), word.begin(), word.end());
}

void TcpChannel::say_alive() {
  if (words_pending()) return;
  const FrameBytes word = encode({});
  words_out_.insert(words_out_.end(), word.begin(), word.end());
}

void TcpChannel::start(const Op& send, std::uint64_t round) {
  Flight flight;
  flight.op = &send;
  flight.round = round;
  flight.header = encode({Frame::Kind::kData, send.message, round, send.from.size});
  flight.parts = shared_->buffers->bytes(send.from, send.dtype);
  outgoing_.push_back(std::move(flight));
}

Result<void> TcpChannel::write_words() {
  while (words_pending()) {
    const auto sent =
        moved(::send(words(), words_out_.data() + sent_, words_out_.size() - sent_, MSG_NOSIGNAL), false);
    if (!sent) return tl::unexpected(sent.error());
    if (*sent == 0) return {};
    sent_ += *sent;
  }
  words_out_.clear();
  sent_ = 0;
  return {};
}

Result<void> TcpChannel::read_words() {
  for (;;) {
    const auto got = moved(::recv(words(), word_.data() + word_got_, word_.size() - word_got_, 0), true);
    if (!got) return tl::unexpected(got.error());
    if (*got == 0) return {};
    word_got_ += *got;
    if (word_got_ < word_.size()) continue;
    word_got_ = 0;
    const auto word = decode(word_);
    if (!word) return tl::unexpected(word.error());
    if (const auto right = accept(*word); !right) return right;
  }
}

Result<void> TcpChannel::accept(const Frame& word) {
  if (word.kind == Frame::Kind::kAlive) return {};
  const auto messages = shared_->plan->messages();
  if (word.kind != Frame::Kind::kReady || word.message.index() >= messages.size()) {
    return failure("it sent a word that the plan has no message for");
  }
  const Op& send = shared_->plan->op(messages[word.message.index()].send);
  if (send.machine != shared_->self || send.peer != peer()) {
    return failure(fmt::format("it has room for message {}, which is not for it", word.message));
  }
  Event event;
  event.kind = Event::Kind::kReady;
  event.op = send.id;
  event.round = word.round;
  shared_->inbox->put(std::move(event));
  return {};
}

std::size_t TcpChannel::gather(const Flight& flight, std::vector<iovec>& into) {
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

void TcpChannel::advance(Flight& flight, std::size_t bytes) {
  flight.done += bytes;
  while (flight.part < flight.parts.size() && flight.done >= flight.parts[flight.part].size()) {
    flight.done -= flight.parts[flight.part].size();
    ++flight.part;
  }
}

void TcpChannel::finish(const Flight& flight) {
  Event event;
  event.op = flight.op->id;
  event.started = flight.started;
  event.at = Clock::monotonic();
  shared_->inbox->put(std::move(event));
}

Result<void> TcpChannel::write_data() {
  std::size_t turn = 0;
  while (!outgoing_.empty() && turn < kTurn) {
    Flight& flight = outgoing_.front();
    vectors_.clear();
    const std::size_t header_left = kFrameSize - header_sent_;
    if (header_left > 0) vectors_.push_back({flight.header.data() + header_sent_, header_left});
    gather(flight, vectors_);
    msghdr message = {};
    message.msg_iov = vectors_.data();
    message.msg_iovlen = vectors_.size();
    const auto sent = moved(::sendmsg(data(), &message, MSG_NOSIGNAL), false);
    if (!sent) return tl::unexpected(sent.error());
    if (*sent == 0) return {};
    turn += *sent;
    const std::size_t of_header = std::min(*sent, header_left);
    header_sent_ += of_header;
    advance(flight, *sent - of_header);
    if (header_sent_ < kFrameSize || flight.part < flight.parts.size()) continue;
    finish(flight);
    outgoing_.pop_front();
    header_sent_ = 0;
  }
  return {};
}

Result<void> TcpChannel::begin_receive() {
  const auto word = decode(header_);
  if (!word) return tl::unexpected(word.error());
  const auto expected = std::find_if(expected_.begin(), expected_.end(), [&](const Expected& one) {
    return one.op->message == word->message && one.round == word->round;
  });
  if (word->kind != Frame::Kind::kData || expected == expected_.end()) {
    return failure(fmt::format("it sent message {} of round {}, which nothing here waits for", word->message,
                               word->round));
  }
  if (word->size != expected->op->into.size) {
    return failure(fmt::format("it sent {} bytes as message {} instead of {}", word->size.count(),
                               word->message, expected->op->into.size.count()));
  }
  incoming_ = {};
  incoming_.op = expected->op;
  incoming_.round = expected->round;
  incoming_.started = Clock::monotonic();
  incoming_.parts = shared_->buffers->bytes(expected->op->into, expected->op->dtype);
  *expected = expected_.back();
  expected_.pop_back();
  return {};
}

Result<void> TcpChannel::read_data() {
  std::size_t turn = 0;
  while (turn < kTurn) {
    if (incoming_.op == nullptr) {
      const auto got = moved(::recv(data(), header_.data() + header_got_, kFrameSize - header_got_, 0), true);
      if (!got) return tl::unexpected(got.error());
      if (*got == 0) return {};
      header_got_ += *got;
      if (header_got_ < kFrameSize) continue;
      header_got_ = 0;
      if (const auto begun = begin_receive(); !begun) return begun;
    }
    vectors_.clear();
    if (gather(incoming_, vectors_) > 0) {
      msghdr message = {};
      message.msg_iov = vectors_.data();
      message.msg_iovlen = vectors_.size();
      const auto got = moved(::recvmsg(data(), &message, 0), true);
      if (!got) return tl::unexpected(got.error());
      if (*got == 0) return {};
      turn += *got;
      advance(incoming_, *got);
    }
    if (incoming_.part < incoming_.parts.size()) continue;
    finish(incoming_);
    incoming_.op = nullptr;
  }
  return {};
}

}  // namespace weir::real
