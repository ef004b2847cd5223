#include "backends/real/sharing.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "backends/real/clock.h"
#include "core/base/units_text.h"

namespace weir::real {
namespace {

// Which replica a descriptor stands for, as it goes beside it.
using Label = std::array<std::uint32_t, 2>;

Label label_of(const Replica& replica) {
  return {replica.buffer.value(), static_cast<std::uint32_t>(replica.number)};
}

// A message with room for a label and, beside it, some descriptors.
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

// Hands over one descriptor; false if the connection takes none now.
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

// Takes one; an invalid descriptor if none has come yet.
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
    return failure("it hands over other memory than that which messages land in");
  }
  return std::move(taken.front());
}

// Both at once with one peer, as neither may wait for the other to begin.
class Exchange {
 public:
  Exchange(const Channel& channel, const Meeting& meeting, const Plan& plan, const Buffers& buffers)
      : connection_(channel.data.number()),
        plan_(plan),
        buffers_(buffers),
        watch_(meeting.watch),
        ours_(landings(plan, meeting.self, channel.lane.peer)),
        theirs_(landings(plan, channel.lane.peer, meeting.self)) {}

  Result<std::unique_ptr<Buffers>> run(Instant until) {
    while (given_ < ours_.size() || taken_.size() < theirs_.size()) {
      if (Clock::monotonic() > until) return failure("it has not handed over its memory in time");
      if (watch_) {
        if (auto well = watch_(); !well) return tl::unexpected(well.error());
      }
      wait();
      if (auto given = give(); !given) return tl::unexpected(given.error());
      if (auto taken = take(); !taken) return tl::unexpected(taken.error());
    }
    return Buffers::map_shared(plan_, taken_);
  }

 private:
  void wait() const {
    constexpr int kSlice = 100;  // milliseconds, so that the deadline is looked at
    pollfd one = {connection_, 0, 0};
    if (given_ < ours_.size()) one.events |= POLLOUT;
    if (taken_.size() < theirs_.size()) one.events |= POLLIN;
    [[maybe_unused]] const int ready = ::poll(&one, 1, kSlice);
  }

  Result<void> give() {
    while (given_ < ours_.size()) {
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

  Result<void> take() {
    while (taken_.size() < theirs_.size()) {
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
  const std::function<Result<void>()>& watch_;
  std::vector<Replica> ours_;
  std::vector<Replica> theirs_;
  std::size_t given_ = 0;
  std::vector<SharedReplica> taken_;
};

}  // namespace

// Every node goes through its peers in order, so of all pairs that have not exchanged theirs the first in the
// order of (smaller, larger) number can: none waits for ever.
Result<void> share_memory(std::vector<Channel>& channels, const Meeting& meeting, const Plan& plan,
                          const Buffers& buffers) {
  const Instant until = Clock::monotonic() + meeting.patience;
  for (Channel& channel : channels) {
    const Address& address = meeting.address(channel.lane.peer, channel.lane.peer_nic);
    if (channel.index != 0 || !is_local(address)) continue;
    auto memory = Exchange(channel, meeting, plan, buffers).run(until);
    if (!memory) {
      return failure(
          fmt::format("machine {} at {}: {}", channel.lane.peer, text(address), memory.error().text));
    }
    const std::shared_ptr<const Buffers> shared = std::move(*memory);
    for (Channel& other : channels) {
      if (other.lane.peer == channel.lane.peer) other.memory = shared;
    }
  }
  return {};
}

}  // namespace weir::real
