#include "backends/real/wire/shm/shm.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "backends/real/process/clock.h"
#include "backends/real/wire/exchange.h"
#include "backends/real/wire/shm/shm_mover.h"
#include "core/base/units_text.h"

namespace weir::real::shm {
namespace {

// Says which replica a descriptor belongs to; sent together with it.
using Label = std::array<std::uint32_t, 2>;

Label label_of(const Replica& replica) {
  return {replica.buffer.value(), static_cast<std::uint32_t>(replica.number)};
}

// A message with room for a label and some descriptors.
struct Parcel {
  Label label{};
  iovec vector = {label.data(), sizeof label};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(4 * sizeof(int))> control{};
  msghdr message = {};

  Parcel() {
    message.msg_iov = &vector;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
  }
  Parcel(const Parcel&) = delete;
  Parcel& operator=(const Parcel&) = delete;
};

// Sends one descriptor. False if the connection takes none now.
Result<bool> hand_over(int connection, const Replica& replica, int descriptor) {
  Parcel parcel;
  parcel.label = label_of(replica);
  parcel.message.msg_controllen = CMSG_SPACE(sizeof descriptor);
  cmsghdr* header = CMSG_FIRSTHDR(&parcel.message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof descriptor);
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  const auto sent = bytes_sent(::sendmsg(connection, &parcel.message, MSG_NOSIGNAL));
  if (!sent) return tl::unexpected(sent.error());
  return *sent > 0;
}

// Receives one descriptor. It is invalid if none has come yet.
Result<Descriptor> take_over(int connection, const Replica& replica) {
  Parcel parcel;
  const auto got = bytes_received(::recvmsg(connection, &parcel.message, MSG_CMSG_CLOEXEC));
  if (!got) return tl::unexpected(got.error());
  if (*got == 0) return Descriptor();
  std::vector<Descriptor> taken;
  for (cmsghdr* header = CMSG_FIRSTHDR(&parcel.message); header != nullptr;
       header = CMSG_NXTHDR(&parcel.message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    for (std::size_t at = 0; at + CMSG_LEN(sizeof(int)) <= header->cmsg_len; at += sizeof(int)) {
      int descriptor = 0;
      std::memcpy(&descriptor, CMSG_DATA(header) + at, sizeof descriptor);
      taken.emplace_back(descriptor);
    }
  }
  if (*got != sizeof(Label) || parcel.label != label_of(replica) || taken.size() != 1) {
    return failure("it handed over memory that does not match the plan");
  }
  return std::move(taken.front());
}

// Exchanges memory with one peer.
class Handover final : public Exchange {
 public:
  Handover(const Channel& channel, const Meeting& meeting, const Plan& plan, const Buffers& buffers)
      : connection_(channel.data.number()),
        plan_(plan),
        buffers_(buffers),
        ours_(landings(plan, meeting.self, channel.lane.peer)),
        theirs_(landings(plan, channel.lane.peer, meeting.self)) {}

  /// The peer's memory.
  Result<std::unique_ptr<Buffers>> taken() const { return Buffers::map_shared(plan_, taken_); }

 private:
  bool gives() const override { return given_ < ours_.size(); }
  bool takes() const override { return taken_.size() < theirs_.size(); }

  Result<void> give() override {
    while (gives()) {
      const Replica& replica = ours_[given_];
      const std::optional<int> descriptor = buffers_.descriptor(replica);
      WEIR_CHECK(descriptor, replica.buffer, replica.number);
      const auto sent = hand_over(connection_, replica, *descriptor);
      if (!sent) return tl::unexpected(sent.error());
      if (!*sent) break;
      ++given_;
    }
    return {};
  }

  Result<void> take() override {
    while (takes()) {
      auto descriptor = take_over(connection_, theirs_[taken_.size()]);
      if (!descriptor) return tl::unexpected(descriptor.error());
      if (!descriptor->valid()) break;
      taken_.push_back({theirs_[taken_.size()], std::move(*descriptor)});
    }
    return {};
  }

  int connection_;
  const Plan& plan_;
  const Buffers& buffers_;
  std::vector<Replica> ours_;
  std::vector<Replica> theirs_;
  std::size_t given_ = 0;
  std::vector<SharedReplica> taken_;
};

// All channels with a peer share this memory.
class PeerMemory final : public Medium {
 public:
  explicit PeerMemory(std::shared_ptr<const Buffers> memory) : memory_(std::move(memory)) {}

  std::string_view wire() const override { return kName; }
  std::shared_ptr<const Buffers> memory() const { return memory_; }

 private:
  std::shared_ptr<const Buffers> memory_;
};

}  // namespace

Result<void> available(const std::string& /*host*/) { return {}; }

// Every node goes through its peers in order. So among the pairs that have not exchanged memory yet, the
// first by (smaller, larger) number can always do so. No node waits forever.
Result<Refusals> join(std::vector<Channel>& channels, const Joining& joining, Use /*use*/) {
  const Meeting& meeting = joining.meeting;
  const Instant until = Clock::monotonic() + meeting.patience;
  for (Channel& channel : channels) {
    const Address& address = meeting.address(channel.lane.peer, channel.lane.peer_nic);
    if (channel.index != 0 || channel.medium != nullptr || !is_local(address)) continue;
    Handover both(channel, meeting, joining.plan, joining.buffers);
    const auto done =
        both.run(channel.data.number(), meeting, until, "it has not handed over its memory in time");
    auto memory = done ? both.taken() : tl::unexpected(done.error());
    if (!memory) return failure(fmt::format("{}: {}", meeting.peer(channel.lane), memory.error().text));
    const std::shared_ptr<const Buffers> shared = std::move(*memory);
    for (Channel& other : channels) {
      if (other.lane.peer == channel.lane.peer) other.medium = std::make_unique<PeerMemory>(shared);
    }
  }
  return Refusals();
}

std::unique_ptr<Mover> make_mover(Channel channel, const MoverContext& context) {
  WEIR_CHECK(channel.medium->wire() == kName, channel.medium->wire());
  auto memory = static_cast<const PeerMemory&>(*channel.medium).memory();
  return std::make_unique<ShmMover>(std::move(channel), std::move(memory), context);
}

}  // namespace weir::real::shm
