#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <optional>
#include <thread>

#include "backends/real/process/clock.h"
#include "backends/real/wire/exchange.h"
#include "backends/real/wire/rdma/connection.h"
#include "backends/real/wire/rdma/offer.h"
#include "core/base/units_text.h"

namespace weir::real::rdma {
namespace {

constexpr Duration kTrial{2'000'000'000};
constexpr std::size_t kConnectors = 32;  // threads

Offer offer_of(const Connection& own, const std::vector<Replica>& replicas) {
  Offer offer;
  offer.end = own.pair->endpoint();
  for (const Replica& replica : replicas) offer.landings.push_back(own.regions->landing(replica));
  return offer;
}

// Exchanges offers with one peer.
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

// This machine's devices and their registered memory. Made at first use.
class Devices {
 public:
  explicit Devices(const Joining& joining) : joining_(joining) {}

  Result<std::shared_ptr<const Regions>> at(int nic) {
    const auto chosen = choices_.try_emplace(nic);
    Result<Choice>& choice = chosen.first->second;
    if (chosen.second) choice = choose(address(nic).host, joining_.nics, nic);
    if (!choice) return tl::unexpected(choice.error());
    const auto opened = regions_.try_emplace(*choice);
    if (opened.second) opened.first->second = open(*choice);
    return opened.first->second;
  }

 private:
  Result<std::shared_ptr<const Regions>> open(const Choice& choice) const {
    auto device = Device::open(choice);
    if (!device) return tl::unexpected(device.error());
    return Regions::make(std::move(*device), joining_.plan, joining_.meeting.self, joining_.buffers);
  }

  const Address& address(int nic) const { return joining_.meeting.address(joining_.meeting.self, nic); }

  const Joining& joining_;
  std::map<int, Result<Choice>> choices_;  // by NIC
  std::map<Choice, Result<std::shared_ptr<const Regions>>> regions_;
};

class Pairing {
 public:
  Pairing(const Joining& joining, Use use)
      : meeting_(joining.meeting),
        plan_(joining.plan),
        use_(use),
        devices_(joining),
        until_(Clock::monotonic() + meeting_.patience) {}

  // Exchanges offers with the peer. Returns the reason if there will be no connection.
  Result<std::optional<std::string>> offer(Channel& channel) {
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
    const auto connection = std::make_shared<Connection>(std::move(*own));
    channel.medium = std::make_unique<RemoteMemory>(connection);
    attempts_.push_back({connection, theirs->end, {}, false});
    return std::nullopt;
  }

  // Connects all that were offered, several at a time, because each one without a route to the peer takes a
  // second.
  void connect() {
    std::atomic<std::size_t> next = 0;
    const auto some = [&] {
      for (std::size_t i = next++; i < attempts_.size(); i = next++) {
        Attempt& attempt = attempts_[i];
        attempt.result = Clock::monotonic() < until_ ? attempt.connection->pair->connect(attempt.peer)
                                                     : failure("the time to connect ran out");
      }
    };
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < std::min(kConnectors, attempts_.size()); ++i) threads.emplace_back(some);
    for (std::thread& thread : threads) thread.join();
  }

  // Starts the trial of the channel's connection once both ends are connected. Returns the reason if there is
  // none.
  Result<std::optional<std::string>> begin_trial(Channel& channel) {
    Attempt& attempt = attempt_of(channel);
    auto why = not_both(channel, attempt.result);
    if (why && !*why) attempt.result = attempt.connection->pair->try_out();
    return why;
  }

  // Waits until all trials have ended, or the time for all of them is over.
  Result<void> try_out(const std::vector<Channel>& channels) {
    std::vector<Attempt*> all;
    for (const Channel& channel : channels) {
      if (connection_of(channel)) all.push_back(&attempt_of(channel));
    }
    const Instant until = Clock::monotonic() + kTrial;
    while (!std::all_of(all.begin(), all.end(), ended) && Clock::monotonic() < until) {
      if (meeting_.watch) {
        if (auto well = meeting_.watch(); !well) return well;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    for (Attempt* attempt : all) {
      if (!ended(attempt))
        attempt->result = failure(fmt::format("{}: the trial message did not arrive within {}",
                                              attempt->connection->pair->device().name(), text(kTrial)));
    }
    return {};
  }

  // The result of the trial. Returns the reason if there will be no connection.
  Result<std::optional<std::string>> judge(Channel& channel) {
    return not_both(channel, attempt_of(channel).result);
  }

 private:
  Result<Offer> exchange(Channel& channel, const Offer& own) {
    OfferExchange both(channel.data, own);
    const auto done =
        both.run(channel.data.number(), meeting_, until_, "it did not send its RDMA offer in time");
    if (!done) return tl::unexpected(done.error());
    return both.taken();
  }

  // Tells the peer whether this end succeeded. Returns the reason if either end failed. Fails if the peer is
  // lost.
  Result<std::optional<std::string>> not_both(Channel& channel, const Result<void>& done) {
    Offer verdict;
    if (!done) verdict.refusal = done.error().text;
    const auto theirs = exchange(channel, verdict);
    if (!theirs) return tl::unexpected(theirs.error());
    return refused(verdict, *theirs);
  }

  // Returns the reason if one of the two refuses. Fails instead if RDMA is required.
  Result<std::optional<std::string>> refused(const Offer& own, const Offer& theirs) const {
    const bool here = !own.refusal.empty();
    const std::string& why = here ? own.refusal : theirs.refusal;
    if (why.empty()) return std::nullopt;
    if (use_ == Use::kAlways)
      return failure((here ? "the local host cannot use RDMA: " : "it cannot use RDMA: ") + why);
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
    return failure("it offers memory that does not match the plan");
  }

  struct Attempt {
    std::shared_ptr<Connection> connection;
    Endpoint peer;
    Result<void> result;
    bool ended;  // whether the trial has ended
  };

  Attempt& attempt_of(const Channel& channel) {
    return *std::find_if(
        attempts_.begin(), attempts_.end(),
        [own = connection_of(channel)](const Attempt& one) { return one.connection == own; });
  }

  static bool ended(Attempt* attempt) {
    if (attempt->ended || !attempt->result) return true;
    const auto reached = attempt->connection->pair->reached();
    if (!reached) attempt->result = tl::unexpected(reached.error());
    attempt->ended = !reached || *reached;
    return attempt->ended;
  }

  const Meeting& meeting_;
  const Plan& plan_;
  Use use_;
  Devices devices_;
  Instant until_;
  std::vector<Attempt> attempts_;
};

}  // namespace

// As with shared memory, every node goes through its peers in order in each step, so no node waits forever.
// Steps that take long for unreachable peers run for all peers at once. Both ends know of every refusal.
Result<Refusals> join(std::vector<Channel>& channels, const Joining& joining, Use use) {
  const Meeting& meeting = joining.meeting;
  Refusals refusals;
  if (meeting.sealed) return refusals;
  Pairing pairing(joining, use);
  // Does one step with every peer.
  const auto each = [&](auto step, const auto& takes_part) -> Result<void> {
    for (Channel& channel : channels) {
      if (!takes_part(channel)) continue;
      const Result<std::optional<std::string>> why = (pairing.*step)(channel);
      if (!why) return failure(fmt::format("{}: {}", meeting.peer(channel.lane), why.error().text));
      if (!*why) continue;
      channel.medium = nullptr;
      refusals.try_emplace(channel.lane, **why);
    }
    return {};
  };
  const auto wants = [&](const Channel& channel) {
    return channel.medium == nullptr && !refusals.contains(channel.lane);
  };
  const auto has = [](const Channel& channel) { return connection_of(channel) != nullptr; };
  auto done = each(&Pairing::offer, wants);
  if (!done) return tl::unexpected(done.error());
  pairing.connect();
  done = each(&Pairing::begin_trial, has);
  if (done) done = pairing.try_out(channels);
  if (done) done = each(&Pairing::judge, has);
  if (!done) return tl::unexpected(done.error());
  for (Channel& channel : channels) {
    if (refusals.contains(channel.lane)) channel.medium = nullptr;
  }
  return refusals;
}

}  // namespace weir::real::rdma
