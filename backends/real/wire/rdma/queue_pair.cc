#include "backends/real/wire/rdma/queue_pair.h"

#include <endian.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "backends/real/process/clock.h"

namespace weir::real::rdma {
namespace {

constexpr int kDepth = 256;
constexpr std::uint32_t kInline = 64;  // bytes
// What a request's number means. kReceive: it is room for a message from the peer. Otherwise it counts the
// writes that have ended with it, and kReported says whether their end is to be reported.
constexpr std::uint64_t kReceive = 1ULL << 63;
constexpr std::uint64_t kReported = 1ULL << 62;

// An unanswered packet is sent again after 4.096 us x 2^16; devices may wait up to four times as long. After
// six retries, in 2 to 8 s, the peer is lost. Seven would mean forever on some devices.
constexpr std::uint8_t kTimeout = 16;
constexpr std::uint8_t kRetries = 6;
// If a peer sends more notices than there is room for, it waits until this end has polled.
constexpr std::uint8_t kForEver = 7;
constexpr std::uint8_t kNotReadyTimer = 12;  // 0.64 ms

}  // namespace

Result<std::unique_ptr<QueuePair>> QueuePair::make(std::shared_ptr<const Device> device) {
  std::unique_ptr<QueuePair> made(new QueuePair(std::move(device)));
  if (auto opened = made->open(); !opened) return tl::unexpected(opened.error());
  return made;
}

Result<void> QueuePair::open() {
  const Verbs& verbs = device_->verbs();
  depth_ = std::min({kDepth, device_->attributes().max_qp_wr, device_->attributes().max_cqe / 2});
  channel_ = verbs.create_comp_channel(device_->context());
  if (channel_ == nullptr) return failed(device_->name() + " provides no completion channel", errno);
  const int flags = ::fcntl(channel_->fd, F_GETFL);
  if (::fcntl(channel_->fd, F_SETFL, flags | O_NONBLOCK) != 0)
    return failed(device_->name() + " cannot make its completion channel non-blocking", errno);
  if (::getrandom(&first_packet_, sizeof first_packet_, 0) != sizeof first_packet_)
    return failure("the system provides no random bytes for a queue pair");
  const int vector =
      static_cast<int>(first_packet_ % static_cast<unsigned>(device_->context()->num_comp_vectors));
  completions_ = verbs.create_cq(device_->context(), 2 * depth_, nullptr, channel_, vector);
  if (completions_ == nullptr) return failed(device_->name() + " provides no completion queue", errno);
  ibv_qp_init_attr wish = {};
  wish.send_cq = wish.recv_cq = completions_;
  wish.qp_type = IBV_QPT_RC;
  wish.cap.max_send_wr = wish.cap.max_recv_wr = static_cast<std::uint32_t>(depth_);
  wish.cap.max_send_sge =
      static_cast<std::uint32_t>(std::clamp(device_->attributes().max_sge, 1, kMostEntries));
  wish.cap.max_recv_sge = 1;
  wish.cap.max_inline_data = kInline;
  pair_ = verbs.create_qp(device_->domain(), &wish);
  if (pair_ == nullptr) {  // some devices cannot copy data into their queues
    wish.cap.max_inline_data = 0;
    pair_ = verbs.create_qp(device_->domain(), &wish);
  }
  if (pair_ == nullptr) return failed(device_->name() + " provides no queue pair", errno);
  inline_size_ = wish.cap.max_inline_data;
  first_packet_ &= 0xffffff;
  ibv_qp_attr attributes = {};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = device_->port();
  attributes.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
  return modify(attributes, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
                "ready to be connected");
}

QueuePair::~QueuePair() {
  const Verbs& verbs = device_->verbs();
  if (pair_ != nullptr) verbs.destroy_qp(pair_);
  if (completions_ != nullptr) verbs.destroy_cq(completions_);
  if (channel_ != nullptr) verbs.destroy_comp_channel(channel_);
}

Result<void> QueuePair::modify(ibv_qp_attr attributes, int mask, const char* into) {
  const int error_number = device_->verbs().modify_qp(pair_, &attributes, mask);
  if (error_number == 0) return {};
  return failed(fmt::format("a queue pair of {} cannot become {}", device_->name(), into), error_number);
}

Endpoint QueuePair::endpoint() const {
  Endpoint own;
  own.number = pair_->qp_num;
  own.first_packet = first_packet_;
  own.lid = device_->port_attributes().lid;
  std::memcpy(own.gid.data(), device_->gid().gid.raw, own.gid.size());
  own.mtu = device_->port_attributes().active_mtu;
  own.ethernet = device_->is_ethernet();
  return own;
}

Result<void> QueuePair::connect(const Endpoint& peer) {
  if (peer.ethernet != device_->is_ethernet())
    return failure(fmt::format("{} uses {}, but the peer's port does not", device_->name(),
                               device_->is_ethernet() ? "Ethernet" : "InfiniBand"));
  for (int i = 0; i < depth_; ++i) {
    if (auto posted = post_receive(); !posted) return posted;
  }
  ibv_qp_attr attributes = {};
  attributes.qp_state = IBV_QPS_RTR;
  attributes.path_mtu = std::min(peer.mtu, device_->port_attributes().active_mtu);
  attributes.dest_qp_num = peer.number;
  attributes.rq_psn = peer.first_packet;
  attributes.max_dest_rd_atomic = 1;
  attributes.min_rnr_timer = kNotReadyTimer;
  attributes.ah_attr.port_num = device_->port();
  attributes.ah_attr.dlid = peer.lid;
  attributes.ah_attr.is_global = 1;
  std::memcpy(attributes.ah_attr.grh.dgid.raw, peer.gid.data(), peer.gid.size());
  attributes.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(device_->gid().gid_index);
  attributes.ah_attr.grh.hop_limit = 64;
  constexpr int kReceiving = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                             IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  if (auto done = modify(attributes, kReceiving, "ready to receive"); !done) return done;
  attributes = {};
  attributes.qp_state = IBV_QPS_RTS;
  attributes.sq_psn = first_packet_;
  attributes.timeout = kTimeout;
  attributes.retry_cnt = kRetries;
  attributes.rnr_retry = kForEver;
  attributes.max_rd_atomic = 1;
  constexpr int kSending = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                           IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
  return modify(attributes, kSending, "ready to send");
}

Result<void> QueuePair::post_receive() {
  ibv_recv_wr room = {};
  room.wr_id = kReceive;
  ibv_recv_wr* bad = nullptr;
  const int error_number = ::ibv_post_recv(pair_, &room, &bad);
  if (error_number != 0) return failed(device_->name() + " rejects a receive request", error_number);
  return {};
}

Result<void> QueuePair::try_out() {
  Write nothing;
  nothing.notice = 0;
  return post(nothing);
}

Result<bool> QueuePair::reached() {
  while (trials_ < 2) {
    const auto ended = poll();
    if (!ended) return tl::unexpected(ended.error());
    if (!*ended) return false;
    ++trials_;
  }
  return true;
}

Result<void> QueuePair::post(const Write& write) {
  ++unsignaled_;
  ++writes_;
  WEIR_CHECK(write.entries >= 1 && write.entries <= kMostEntries, write.entries);
  std::array<ibv_sge, kMostEntries> sources{};
  std::span<const std::byte> left = write.from;
  for (int i = 0; i < write.entries; ++i) {
    const auto share = left.first(left.size() / static_cast<std::size_t>(write.entries - i));
    ibv_sge& source = sources[static_cast<std::size_t>(i)];
    source.addr = reinterpret_cast<std::uintptr_t>(share.data());  // NOLINT: what the device reads
    source.length = static_cast<std::uint32_t>(share.size());
    source.lkey = write.key;
    left = left.subspan(share.size());
  }
  ibv_send_wr request = {};
  request.sg_list = sources.data();
  request.num_sge = write.from.empty() ? 0 : write.entries;
  request.opcode = write.notice ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE;
  request.imm_data = htobe32(write.notice.value_or(0));
  request.wr.rdma.remote_addr = write.into;
  request.wr.rdma.rkey = write.peer_key;
  const auto size = static_cast<std::int64_t>(write.from.size());
  device_->counts().written += size;
  if (write.from.size() <= inline_size_ && !write.on_gpu) {
    request.send_flags |= IBV_SEND_INLINE;
    device_->counts().copied += size;
  }
  // A write is signaled if the peer is notified of it. In long rows of other writes, enough are signaled that
  // the queue does not fill.
  if (write.notice || unsignaled_ >= static_cast<std::uint64_t>(depth_) / 4) {
    request.send_flags |= IBV_SEND_SIGNALED;
    request.wr_id = std::exchange(unsignaled_, 0) | (write.notice ? kReported : 0);
  }
  ibv_send_wr* bad = nullptr;
  const int error_number = ::ibv_post_send(pair_, &request, &bad);
  if (error_number != 0) return failed(device_->name() + " rejects a write request", error_number);
  return {};
}

// A flushed request only shows that another one has failed. That one may come later in the queue, or arrive
// there a moment later.
tl::unexpected<Error> QueuePair::lost(ibv_wc ended) {
  const Instant until = Clock::monotonic() + Duration(200'000'000);
  while (ended.status == IBV_WC_WR_FLUSH_ERR && Clock::monotonic() < until) {
    ibv_wc next = {};
    if (::ibv_poll_cq(completions_, 1, &next) > 0 && next.status != IBV_WC_SUCCESS) ended = next;
  }
  return failure(fmt::format("{}: {} (vendor's code {:#x})", device_->name(),
                             device_->verbs().wc_status_str(ended.status), ended.vendor_err));
}

Result<std::optional<Ended>> QueuePair::poll() {
  for (;;) {
    ibv_wc ended = {};
    const int count = ::ibv_poll_cq(completions_, 1, &ended);
    if (count < 0) return failure(device_->name() + " does not report completions");
    if (count == 0) return std::optional<Ended>();
    if (ended.status != IBV_WC_SUCCESS) return lost(ended);
    if (ended.wr_id == kReceive) {
      if (auto posted = post_receive(); !posted) return tl::unexpected(posted.error());
      return std::optional<Ended>({true, be32toh(ended.imm_data)});
    }
    writes_ -= ended.wr_id & ~kReported;
    if ((ended.wr_id & kReported) != 0) return std::optional<Ended>(Ended{});
  }
}

Result<void> QueuePair::arm() {
  const int error_number = ::ibv_req_notify_cq(completions_, 0);
  if (error_number != 0) return failed(device_->name() + " does not announce completions", error_number);
  return {};
}

Result<void> QueuePair::clear_event() {
  ibv_cq* queue = nullptr;
  void* context = nullptr;
  if (device_->verbs().get_cq_event(channel_, &queue, &context) != 0) {
    if (errno == EAGAIN || errno == EINTR) return {};
    return failed(device_->name() + " has lost its completion channel", errno);
  }
  device_->verbs().ack_cq_events(queue, 1);
  return {};
}

}  // namespace weir::real::rdma
