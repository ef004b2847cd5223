#include "backends/real/wire/meeting.h"

#include <fmt/format.h>
#include <poll.h>
#include <sodium.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <list>
#include <map>
#include <optional>

#include "backends/real/process/clock.h"
#include "core/base/units_text.h"

namespace weir::real {
namespace {

constexpr std::array<char, 4> kMagic = {'W', 'E', 'I', 'R'};
constexpr std::byte kVersion{2};
constexpr std::size_t kGreetingSize = 4 + 1 + 1 + 2 + 4 + 4;
constexpr std::size_t kHelloSize = kGreetingSize + sizeof(Secret);
constexpr Duration kHelloPatience{2'000'000'000};  // how long a stranger may take to say who it is
constexpr std::size_t kMostStrangers = 1024;       // at once

using Hello = std::array<std::byte, kHelloSize>;

// What both ends say first: who speaks to whom, and what the connection is for.
struct Greeting {
  MachineId from;
  MachineId into;
  int channel = 0;
  bool data = false;
};

using GreetingBytes = std::array<std::byte, kGreetingSize>;

GreetingBytes encode(const Greeting& greeting) {
  GreetingBytes hello{};
  for (std::size_t i = 0; i < kMagic.size(); ++i) hello[i] = static_cast<std::byte>(kMagic[i]);
  hello[4] = kVersion;
  hello[5] = std::byte{greeting.data};
  hello[6] = static_cast<std::byte>(greeting.channel & 0xff);
  hello[7] = static_cast<std::byte>(greeting.channel >> 8);
  for (int i = 0; i < 4; ++i) {
    hello[8 + static_cast<std::size_t>(i)] = static_cast<std::byte>(greeting.from.value() >> (8 * i));
    hello[12 + static_cast<std::size_t>(i)] = static_cast<std::byte>(greeting.into.value() >> (8 * i));
  }
  return hello;
}

// Derives a secret for one connection, direction and purpose. Only those who know the token can do so.
Secret derive(const Token& token, const GreetingBytes& greeting, char purpose) {
  std::array<std::byte, kGreetingSize + 1> text{};
  *std::copy(greeting.begin(), greeting.end(), text.begin()) = static_cast<std::byte>(purpose);
  Secret secret{};
  static_assert(sizeof secret == crypto_generichash_BYTES && sizeof token == crypto_generichash_KEYBYTES);
  const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
  const auto* const key = reinterpret_cast<const unsigned char*>(token.data());
  crypto_generichash(reinterpret_cast<unsigned char*>(secret.data()), secret.size(), bytes, text.size(), key,
                     token.size());
  return secret;
}

Hello hello_of(const Greeting& greeting, const Token& token) {
  const GreetingBytes bytes = encode(greeting);
  const Secret proof = derive(token, bytes, 'p');
  Hello hello{};
  std::copy(proof.begin(), proof.end(), std::copy(bytes.begin(), bytes.end(), hello.begin()));
  return hello;
}

SealKeys keys_of(const Greeting& out, const Greeting& in, const Token& token) {
  return {derive(token, encode(out), 's'), derive(token, encode(in), 's')};
}

// Takes the same time wherever the two differ.
bool equal(const Hello& a, const Hello& b) {
  std::byte differ{0};
  for (std::size_t i = 0; i < a.size(); ++i) differ |= a[i] ^ b[i];
  return differ == std::byte{0};
}

// A connection whose other end has not said yet who it is.
struct Stranger {
  Descriptor socket;
  Hello hello{};
  std::size_t got = 0;
  Instant until;
  std::optional<Greeting> expected;  // if this node connected: the answer it expects
  Lane lane;                         // and the lane that the connection belongs to
};

class Party {
 public:
  Party(const Meeting& meeting, std::span<const Descriptor> listeners)
      : meeting_(meeting), listeners_(listeners), until_(Clock::monotonic() + meeting.patience) {
    std::map<MachineId, int> counts;
    for (const Lane& lane : meeting.lanes) {
      for (int i = 0; i < meeting.channels; ++i)
        channels_.push_back({lane, counts[lane.peer]++, i, {}, {}, nullptr, nullptr});
    }
  }

  Result<std::vector<Channel>> meet() {
    for (const Channel& channel : channels_) {
      if (channel.lane.peer > meeting_.self) continue;
      for (const bool data : {false, true}) {
        if (const auto greeted = greet(channel, data); !greeted) return tl::unexpected(greeted.error());
      }
    }
    while (!complete()) {
      if (Clock::monotonic() > until_) return failure(missing());
      if (meeting_.watch) {
        if (const auto well = meeting_.watch(); !well) return tl::unexpected(well.error());
      }
      wait();
      admit();
      if (const auto listened = listen(); !listened) return tl::unexpected(listened.error());
    }
    return std::move(channels_);
  }

 private:
  bool complete() const {
    return std::all_of(channels_.begin(), channels_.end(),
                       [](const Channel& channel) { return channel.words.valid() && channel.data.valid(); });
  }

  std::string missing() const {
    std::string text =
        fmt::format("after {} these machines have not connected:", weir::text(meeting_.patience));
    MachineId last;
    for (const Channel& channel : channels_) {
      if ((channel.words.valid() && channel.data.valid()) || channel.lane.peer == last) continue;
      last = channel.lane.peer;
      text += fmt::format(" {} ({})", meeting_.name(last),
                          real::text(meeting_.address(last, channel.lane.peer_nic)));
    }
    return text;
  }

  Result<void> greet(const Channel& channel, bool data) {
    const Lane& lane = channel.lane;
    // With several NICs, a connection uses the NIC that has its address.
    const bool several = meeting_.addresses[meeting_.self.index()].size() > 1;
    auto socket = connect_to(meeting_.address(lane.peer, lane.peer_nic), until_ - Clock::monotonic(),
                             {several ? meeting_.address(meeting_.self, lane.nic).host : "", meeting_.watch});
    if (!socket) return tl::unexpected(socket.error());
    const Greeting greeting = {meeting_.self, lane.peer, channel.index, data};
    if (!say(*socket, greeting)) return failure(lost(lane));
    strangers_.push_back(
        {std::move(*socket), {}, 0, until_, Greeting{lane.peer, meeting_.self, channel.index, data}, lane});
    return {};
  }

  // A fresh connection accepts so few bytes at once.
  bool say(const Descriptor& socket, const Greeting& greeting) const {
    const Hello hello = hello_of(greeting, meeting_.token);
    return ::send(socket.number(), hello.data(), hello.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(hello.size());
  }

  std::string lost(const Lane& lane) const {
    return meeting_.peer(lane) + " closed the connection: it belongs to another job or is not a node of Weir";
  }

  void wait() const {
    std::vector<pollfd> polled;
    // While nobody can be let in, a waiting connection would wake poll() again and again.
    for (const Descriptor& listener : listeners_) {
      if (!full_) polled.push_back({listener.number(), POLLIN, 0});
    }
    for (const Stranger& stranger : strangers_) polled.push_back({stranger.socket.number(), POLLIN, 0});
    constexpr int kSlice = 100;  // milliseconds, so that deadlines are checked
    [[maybe_unused]] const int ready = ::poll(polled.data(), polled.size(), kSlice);
  }

  void admit() {
    full_ = strangers_.size() >= kMostStrangers;
    for (const Descriptor& listener : listeners_) {
      while (!full_) {
        Descriptor socket = accept_one(listener);
        if (!socket.valid()) {
          full_ = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
          break;
        }
        strangers_.push_back({std::move(socket), {}, 0, Clock::monotonic() + kHelloPatience, {}, {}});
        full_ = strangers_.size() >= kMostStrangers;
      }
    }
  }

  Result<void> listen() {
    for (auto stranger = strangers_.begin(); stranger != strangers_.end();) {
      std::byte* at = stranger->hello.data() + stranger->got;
      const ssize_t got = ::recv(stranger->socket.number(), at, kHelloSize - stranger->got, 0);
      if (got > 0) stranger->got += static_cast<std::size_t>(got);
      const bool waiting = got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
      const bool whole = stranger->got == kHelloSize;
      if (!whole && waiting && Clock::monotonic() < stranger->until) {
        ++stranger;
        continue;
      }
      const bool welcome = whole && seat(*stranger);
      if (!welcome && stranger->expected) return failure(lost(stranger->lane));
      stranger = strangers_.erase(stranger);
    }
    return {};
  }

  // Gives a connection its place if it said the right words.
  bool seat(Stranger& stranger) {
    for (Channel& channel : channels_) {
      for (const bool data : {false, true}) {
        Stream& place = data ? channel.data : channel.words;
        const Greeting theirs = {channel.lane.peer, meeting_.self, channel.index, data};
        const Greeting ours = {meeting_.self, channel.lane.peer, channel.index, data};
        if (place.valid() || !equal(stranger.hello, hello_of(theirs, meeting_.token))) continue;
        if (!stranger.expected && !say(stranger.socket, ours)) return false;
        place = Stream(std::move(stranger.socket));
        if (meeting_.sealed && !is_local(meeting_.address(channel.lane.peer, channel.lane.peer_nic)))
          place.seal(keys_of(ours, theirs, meeting_.token));
        return true;
      }
    }
    return false;
  }

  const Meeting& meeting_;
  std::span<const Descriptor> listeners_;
  Instant until_;
  std::vector<Channel> channels_;
  std::list<Stranger> strangers_;
  bool full_ = false;  // nobody can be let in for now: too many strangers, or no descriptors left
};

}  // namespace

const Address& Meeting::address(MachineId machine, int nic) const {
  const std::vector<Address>& all = addresses[machine.index()];
  return all[std::min(static_cast<std::size_t>(nic), all.size() - 1)];
}

std::string Meeting::name(MachineId machine) const {
  return names.empty() ? fmt::format("{}", machine) : names[machine.index()];
}

std::string Meeting::peer(const Lane& lane) const {
  return fmt::format("machine {} at {}", name(lane.peer), text(address(lane.peer, lane.peer_nic)));
}

Result<std::vector<Channel>> meet(const Meeting& meeting, std::span<const Descriptor> listeners) {
  return Party(meeting, listeners).meet();
}

}  // namespace weir::real
