#include "backends/real/rdma/join.h"

#include <fmt/format.h>

#include <map>
#include <optional>

#include "backends/real/clock.h"
#include "backends/real/exchange.h"
#include "backends/real/rdma/connection.h"
#include "backends/real/rdma/offer.h"

namespace weir::real::rdma {
namespace {

constexpr Duration kTrial{2'000'000'000};

Offer offer_of(const Connection& own, const std::vector<Replica>& replicas) {
  Offer offer;
  offer.end = own.pair->endpoint();
  for (const Replica& replica : replicas) offer.landings.push_back(own.regions->landing(replica));
  return offer;
}

// Of offers, with one peer.
class OfferExchange final : public Exchange {
 public:
  OfferExchange(Stream& stream, const Offer& own) : stream_(stream), out_(encode(own)) {}

  Result<Offer> taken() const { return in_.offer(); }

 private:
  bool gives() const override { return given_ < out_.size(); }
  bool takes() const override { return !in_.whole(); }

  Result<void> give() override {
    while (gives()) {
      const iovec rest = {out_.data() + given_, out_.size() - given_};
      const auto sent = stream_.send({&rest, 1});
      if (!sent) return tl::unexpected(sent.error());
      if (*sent == 0) break;
      given_ += *sent;
    }
    return {};
  }

  Result<void> take() override {
    while (takes()) {
      const auto room = in_.room();
      if (!room) return tl::unexpected(room.error());
      const iovec place = {room->data(), room->size()};
      const auto got = stream_.receive({&place, 1});
      if (!got) return tl::unexpected(got.error());
      if (*got == 0) break;
      in_.came(*got);
    }
    return {};
  }

  Stream& stream_;
  std::vector<std::byte> out_;
  std::size_t given_ = 0;
  OfferReader in_;
};

// This machine's devices and what they know of its memory, made when first asked for.
class Devices {
 public:
  Devices(const Meeting& meeting, const Plan& plan, const Buffers& buffers)
      : meeting_(meeting), plan_(plan), buffers_(buffers) {}

  const Result<std::shared_ptr<const Regions>>& at(int nic) {
    const std::string& host = meeting_.address(meeting_.self, nic).host;
    const auto known = regions_.find(host);
    return known != regions_.end() ? known->second : regions_.emplace(host, open(host)).first->second;
  }

 private:
  Result<std::shared_ptr<const Regions>> open(const std::string& host) {
    auto device = Device::at(host);
    if (!device) return tl::unexpected(device.error());
    return Regions::make(std::move(*device), plan_, meeting_.self, buffers_);
  }

  const Meeting& meeting_;
  const Plan& plan_;
  const Buffers& buffers_;
  std::map<std::string, Result<std::shared_ptr<const Regions>>> regions_;  // by address
};

class Joining {
 public:
  Joining(const Meeting& meeting, const Plan& plan, const Buffers& buffers, Use use)
      : meeting_(meeting),
        plan_(plan),
        use_(use),
        devices_(meeting, plan, buffers),
        until_(Clock::monotonic() + meeting.patience) {}

  // Returns why there is to be none, or nothing if the channel has its connection.
  Result<std::optional<std::string>> join(Channel& channel) {
    const MachineId peer = channel.lane.peer;
    auto own = prepare(channel.lane.nic);
    Offer offer;
    if (own) {
      offer = offer_of(*own, landings(plan_, meeting_.self, peer));
    } else {
      offer.refusal = own.error().text;
    }
    const auto theirs = exchange(channel, offer);
    if (!theirs) return tl::unexpected(theirs.error());
    if (auto why = refused(offer, *theirs); !why || *why) return why;
    const auto into = landings(plan_, peer, meeting_.self);
    if (const auto fits = check(theirs->landings, into); !fits) return tl::unexpected(fits.error());
    for (std::size_t i = 0; i < into.size(); ++i) own->landings[into[i]] = theirs->landings[i];
    // Each step wants that both have done the one before.
    if (auto why = not_both(channel, own->pair->connect(theirs->end)); !why || *why) return why;
    if (auto why = not_both(channel, own->pair->try_out(kTrial)); !why || *why) return why;
    channel.rdma = std::make_shared<Connection>(std::move(*own));
    return std::nullopt;
  }

 private:
  Result<Offer> exchange(Channel& channel, const Offer& own) {
    OfferExchange both(channel.data, own);
    const auto done = both.run(channel.data.number(), meeting_, until_,
                               "it has not said in time how it is reached by RDMA");
    if (!done) return tl::unexpected(done.error());
    return both.taken();
  }

  // Why one of the two, of which this one has come to that, did not come as far. Fails if the other is lost.
  Result<std::optional<std::string>> not_both(Channel& channel, const Result<void>& done) {
    Offer verdict;
    if (!done) verdict.refusal = done.error().text;
    const auto theirs = exchange(channel, verdict);
    if (!theirs) return tl::unexpected(theirs.error());
    return refused(verdict, *theirs);
  }

  // Why one of the two refuses, if one does, which is an error where there must be RDMA.
  Result<std::optional<std::string>> refused(const Offer& own, const Offer& theirs) const {
    const bool here = !own.refusal.empty();
    const std::string& why = here ? own.refusal : theirs.refusal;
    if (why.empty()) return std::nullopt;
    if (use_ == Use::kAlways) return failure((here ? "no RDMA from here: " : "it cannot use RDMA: ") + why);
    return why;
  }

  Result<Connection> prepare(int nic) {
    const auto& regions = devices_.at(nic);
    if (!regions) return tl::unexpected(regions.error());
    auto pair = QueuePair::make((*regions)->shared_device());
    if (!pair) return tl::unexpected(pair.error());
    return Connection{*regions, {}, std::move(*pair)};
  }

  Result<void> check(const std::vector<Landing>& given, const std::vector<Replica>& expected) const {
    bool fits = given.size() == expected.size();
    for (std::size_t i = 0; fits && i < given.size(); ++i)
      fits = given[i].keys.size() == regions_of(plan_.buffer(expected[i].buffer).size);
    if (fits) return {};
    return failure("it offers other memory than that which messages land in");
  }

  const Meeting& meeting_;
  const Plan& plan_;
  Use use_;
  Devices devices_;
  Instant until_;
};

}  // namespace

// As in share_memory(): every node goes through its peers in order, so none waits for ever.
Result<std::map<Lane, std::string>> connect(std::vector<Channel>& channels, const Meeting& meeting,
                                            const Plan& plan, const Buffers& buffers, Use use) {
  std::map<Lane, std::string> on_tcp;
  Joining joining(meeting, plan, buffers, use);
  for (Channel& channel : channels) {
    if (channel.memory != nullptr) continue;
    const auto refused = joining.join(channel);
    const Lane& lane = channel.lane;
    if (!refused)
      return failure(fmt::format("{}: {}", meeting.peer(lane), refused.error().text));
    if (*refused) on_tcp.try_emplace(lane, **refused);
  }
  return on_tcp;
}

}  // namespace weir::real::rdma
