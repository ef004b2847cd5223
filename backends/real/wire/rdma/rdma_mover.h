// Moves the messages of a channel over RDMA. The sender's device writes from its slice into the receiver's,
// and processors touch no byte. Only words take TCP.
#pragma once

#include <deque>
#include <map>
#include <vector>

#include "backends/real/wire/mover.h"
#include "backends/real/wire/rdma/connection.h"
#include "backends/real/wire/words.h"

namespace weir::real::rdma {

/// A message's writes begin once the receiver has said that it has room. The last write says that the message
/// is there. After a write has been posted or has ended, the owner polls for ends for the context's `poll`.
/// Then it waits for the device to report them.
class RdmaMover final : public Mover {
 public:
  RdmaMover(Channel channel, std::shared_ptr<Connection> connection, const MoverContext& context)
      : peer_(channel.lane.peer),
        words_(std::move(channel.words)),
        connection_(std::move(connection)),
        context_(&context) {}

  MachineId peer() const override { return peer_; }
  int words() const override { return words_.connection(); }
  std::optional<int> data() const override { return connection_->pair->descriptor(); }

  void expect(const Op& receive, std::uint64_t round) override;
  void start(const Op& send, std::uint64_t round) override;
  void say_alive() override;

  Result<void> read_words() override;
  Result<void> read_data() override;
  Result<void> write_words() override;
  Result<void> write_data() override;

  bool words_wait() const override { return words_.pending(); }
  bool data_wait() const override { return false; }
  bool can_go_on() const override { return waits() && !armed_; }

 private:
  struct Outgoing {
    const Op* op;
    std::vector<Write> writes;
    std::size_t posted;
    std::int64_t left;  // chunks that have not ended
    Instant started;
  };
  struct Incoming {
    const Op* op;
    std::uint64_t round;
    std::int64_t left;  // chunks that have not come
    Instant announced;
  };

  /// Whether any message is outgoing or expected.
  bool waits() const { return !outgoing_.empty() || !expected_.empty(); }
  void busy();
  Result<void> post();
  Result<bool> reap();
  Result<void> sent();
  bool is_outgoing(MessageId message) const;
  Result<void> landed(std::uint32_t message);

  MachineId peer_;
  Words words_;
  std::shared_ptr<Connection> connection_;
  const MoverContext* context_;
  std::vector<Incoming> expected_;
  std::deque<Outgoing> outgoing_;
  std::size_t posted_ = 0;  // of these, as many as have been posted to their end
  Instant landed_;          // last
  Instant busy_;            // last
  // Words may overtake the ends of writes. These say that the peer has room for messages whose last round has
  // not ended here.
  std::map<MessageId, Frame> early_;
  bool armed_ = false;
  bool asked_ = false;  // to say that this node is alive, for which its device must work
  Rooms rooms_;
};

}  // namespace weir::real::rdma
