#include "backends/real/wire/meeting.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <thread>

#include "backends/real/process/clock.h"
#include "tests/catch.h"

namespace weir::real {
namespace {

constexpr Duration kSoon{1'000'000'000};

struct Ends {
  Ends() {
    for (std::size_t i = 0; i < listeners.size(); ++i) {
      listeners[i] = std::move(listen_at({"127.0.0.1", 0}).value());
      addresses.push_back(listening_at(listeners[i]));
    }
  }

  Meeting meeting(std::size_t self, std::byte token, Duration patience) const {
    Meeting meeting;
    meeting.self = MachineId(self);
    meeting.lanes = {{MachineId(1 - self), 0, 0}};
    for (const Address& address : addresses) meeting.addresses.push_back({address});
    meeting.channels = 2;
    meeting.token.fill(token);
    meeting.patience = patience;
    return meeting;
  }

  Result<std::vector<Channel>> meet(std::size_t self, std::byte token, Duration patience) const {
    return real::meet(meeting(self, token, patience), std::span(&listeners[self], 1));
  }

  std::array<Descriptor, 2> listeners;
  std::vector<Address> addresses;
};

TEST_CASE("nodes meet although strangers send nothing, nonsense or the words of another job") {
  const Ends ends;
  const auto knock = [&](const std::string& says) {
    Descriptor stranger = std::move(connect_to(ends.addresses[0], kSoon).value());
    ::send(stranger.number(), says.data(), says.size(), MSG_NOSIGNAL);
    return stranger;
  };
  std::vector<Descriptor> strangers;
  strangers.push_back(knock(""));
  strangers.push_back(knock("GET / HTTP/1.1\r\n\r\n" + std::string(100, 'x')));
  strangers.push_back(knock(std::string("WEIR\x02", 5) + std::string(200, '\0')));
  Result<std::vector<Channel>> first;
  std::thread listener([&] { first = ends.meet(0, std::byte{1}, Duration(5'000'000'000)); });
  const auto second = ends.meet(1, std::byte{1}, Duration(5'000'000'000));
  listener.join();
  REQUIRE(first);
  REQUIRE(second);
  CHECK(first->size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const char letter = 'a';
    char heard = ' ';
    CHECK(::send((*second)[i].data.number(), &letter, 1, MSG_NOSIGNAL) == 1);
    while (::recv((*first)[i].data.number(), &heard, 1, 0) < 0) {
    }
    CHECK(heard == 'a');
  }
}

TEST_CASE("a node without the job's token gets nothing") {
  const Ends ends;
  Result<std::vector<Channel>> first;
  std::thread listener([&] { first = ends.meet(0, std::byte{1}, kSoon); });
  const auto second = ends.meet(1, std::byte{2}, kSoon);
  listener.join();
  REQUIRE_FALSE(second);
  CHECK(second.error().text.find("closed the connection: it belongs to another job") != std::string::npos);
  REQUIRE_FALSE(first);
  CHECK(first.error().text.find("these machines have not connected: 1 (127.0.0.1:") != std::string::npos);
}

TEST_CASE("sealed connections carry neither the token nor plain words") {
  const Ends ends;
  Result<std::vector<Channel>> first;
  const auto sealed = [&](std::size_t self) {
    Meeting meeting = ends.meeting(self, std::byte{'t'}, Duration(5'000'000'000));
    meeting.sealed = true;
    return real::meet(meeting, std::span(&ends.listeners[self], 1));
  };
  std::thread listener([&] { first = sealed(0); });
  auto second = sealed(1);
  listener.join();
  REQUIRE(first);
  REQUIRE(second);
  for (std::size_t i = 0; i < 2; ++i) {
    for (const bool data : {false, true}) {
      Stream& from = data ? (*second)[i].data : (*second)[i].words;
      const Stream& into = data ? (*first)[i].data : (*first)[i].words;
      std::string plain(100, 's');
      const iovec words = {plain.data(), plain.size()};
      REQUIRE(from.send({&words, 1}) == plain.size());
      std::string heard(1000, ' ');
      ssize_t got = -1;
      while (got < 0) got = ::recv(into.number(), heard.data(), heard.size(), 0);
      CHECK(got == 4 + 16 + 100);  // size, tag, ciphertext
      CHECK(heard.find("sss") == std::string::npos);
    }
  }
}

TEST_CASE("a node that can admit nobody waits without work") {
  const Ends ends;
  const Descriptor stranger = std::move(connect_to(ends.addresses[0], kSoon).value());
  rlimit before = {};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  rlimit none = before;
  none.rlim_cur = static_cast<rlim_t>(Descriptor(::dup(0)).number());  // no further ones
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  Meeting meeting = ends.meeting(0, std::byte{1}, kSoon * 10);
  const Instant until = Clock::monotonic() + kSoon;
  const std::clock_t begin = std::clock();
  double busy = 0;
  meeting.watch = [&]() -> Result<void> {
    if (Clock::monotonic() < until) return {};
    busy = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    // Restore the limit first: sanitizers need descriptors of their own.
    WEIR_CHECK(::setrlimit(RLIMIT_NOFILE, &before) == 0, errno);
    return failure("it was stopped");
  };
  const auto met = real::meet(meeting, std::span(ends.listeners.data(), 1));
  REQUIRE_FALSE(met);
  CHECK(met.error().text == "it was stopped");
  CHECK(busy < 0.2);
}

TEST_CASE("a wait for peers ends when its watch fails") {
  const Ends ends;
  Meeting meeting = ends.meeting(0, std::byte{1}, Duration(60'000'000'000));
  const Instant begin = Clock::monotonic();
  meeting.watch = [&]() -> Result<void> {
    if (Clock::monotonic() - begin < Duration(300'000'000)) return {};
    return failure("it was stopped");
  };
  const auto met = real::meet(meeting, std::span(ends.listeners.data(), 1));
  REQUIRE_FALSE(met);
  CHECK(met.error().text == "it was stopped");
  CHECK(Clock::monotonic() - begin < kSoon);
}

TEST_CASE("addresses at which other hosts cannot find this one are refused") {
  for (const char* host : {"", "@weir", "0.0.0.0", "0", "::", "::0", "::ffff:0.0.0.0", "*"}) {
    const auto reachable = check_reachable(host);
    REQUIRE_FALSE(reachable);
    CHECK_THAT(reachable.error().text, has_text(fmt::format("'{}' ", host)));
  }
  for (const char* host : {"127.0.0.1", "10.0.0.1", "::1", "fe80::1", "node17", "node-0.cluster"})
    CHECK(check_reachable(host));
}

TEST_CASE("invalid addresses are errors that name them") {
  CHECK(listen_at({"no such host.", 0}).error().text.find("unknown host 'no such host.'") !=
        std::string::npos);
  CHECK(connect_to({"127.0.0.1", 1}, kSoon).error().text.find("cannot connect to 127.0.0.1:1") !=
        std::string::npos);
  CHECK(text(Address{"::1", 80}) == "[::1]:80");
}

}  // namespace
}  // namespace weir::real
