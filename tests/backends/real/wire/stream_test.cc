#include "backends/real/wire/stream.h"

#include <sys/socket.h>

#include <array>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tests/catch.h"

namespace weir::real {
namespace {

// Two ends of one connection. The test controls the bytes between them.
struct Line {
  Line() {
    for (auto& pair : sockets) {
      int ends[2];
      REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
      pair[0] = Descriptor(ends[0]);
      pair[1] = Descriptor(ends[1]);
    }
    SealKeys keys{};
    keys.out.fill(std::byte{1});
    keys.in.fill(std::byte{2});
    from = Stream(std::move(sockets[0][0]));
    into = Stream(std::move(sockets[1][0]));
    from.seal(keys);
    std::swap(keys.out, keys.in);
    into.seal(keys);
  }

  // The bytes that `from` has sent.
  std::string tapped() const {
    std::string bytes(1 << 20, ' ');
    const ssize_t got = ::recv(sockets[0][1].number(), bytes.data(), bytes.size(), 0);
    return bytes.substr(0, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  }

  void deliver(const std::string& bytes) const {
    REQUIRE(::send(sockets[1][1].number(), bytes.data(), bytes.size(), 0) ==
            static_cast<ssize_t>(bytes.size()));
  }

  std::array<std::array<Descriptor, 2>, 2> sockets;
  Stream from;
  Stream into;
};

std::string record(Line& line, std::string text) {
  const iovec bytes = {text.data(), text.size()};
  REQUIRE(line.from.send({&bytes, 1}) == text.size());
  return line.tapped();
}

Result<std::string> received(Line& line) {
  std::string text(1 << 17, ' ');
  const iovec room = {text.data(), text.size()};
  const auto got = line.into.receive({&room, 1});
  if (!got) return tl::unexpected(got.error());
  return text.substr(0, *got);
}

TEST_CASE("sealed bytes come out as they went in, however they are cut on their way") {
  Line line;
  std::mt19937 random(7);
  std::string given;
  std::string heard;
  std::string way;
  for (int i = 0; i < 200; ++i) {
    std::string text(std::uniform_int_distribution<std::size_t>(1, 70'000)(random), ' ');
    for (char& c : text) c = static_cast<char>(random());
    // Sends from up to three places.
    const std::size_t cut = random() % text.size();
    const std::array<iovec, 3> places = {iovec{text.data(), cut}, iovec{text.data() + cut, 0},
                                         iovec{text.data() + cut, text.size() - cut}};
    const auto sent = line.from.send(places);
    REQUIRE(sent);
    given += text.substr(0, *sent);
    way += line.tapped();
    while (line.from.pending()) {
      REQUIRE(line.from.flush());
      way += line.tapped();
    }
    while (!way.empty()) {
      const std::size_t piece = 1 + random() % std::min<std::size_t>(way.size(), 40'000);
      line.deliver(way.substr(0, piece));
      way.erase(0, piece);
      for (auto got = received(line);; got = received(line)) {
        REQUIRE(got);
        if (got->empty()) break;
        heard += *got;
      }
    }
  }
  CHECK(given.size() > 1'000'000);
  CHECK(heard == given);
}

TEST_CASE("bytes that were changed on their way are detected, whichever they are") {
  Line whole;
  const std::size_t size = record(whole, "twelve bytes").size();
  REQUIRE(size == 4 + 16 + 12);
  for (std::size_t i = 0; i < size; ++i) {
    Line line;
    std::string bytes = record(line, "twelve bytes");
    bytes[i] = static_cast<char>(bytes[i] ^ 1);
    line.deliver(bytes + std::string(100'000, 'x'));  // something must follow if the size was changed
    CHECK_FALSE(received(line));
  }
}

TEST_CASE("records that are repeated, left out or swapped are detected") {
  const auto delivered = [](const std::function<void(Line&, const std::string&, const std::string&)>& how) {
    Line line;
    const std::string first = record(line, "first");
    const std::string second = record(line, "second");
    how(line, first, second);
    if (auto got = received(line); !got) return got;
    return received(line);
  };
  CHECK(delivered([](Line& line, const auto& first, const auto& second) { line.deliver(first + second); }) ==
        "second");
  for (const auto& got : {
           delivered([](Line&line, const auto&first, const auto&) { line.deliver(first + first); }),
           delivered([](Line&line, const auto&, const auto&second) { line.deliver(second); }),
           delivered([](Line&line, const auto&first, const auto&second) { line.deliver(second + first); }),
       }) {
    REQUIRE_FALSE(got);
    CHECK(got.error().text.find("not sealed with this job's key") != std::string::npos);
  }
}

TEST_CASE("a peer that lacks the key or seals nothing is detected") {
  Line line;
  line.deliver(std::string(1000, '\xff'));
  const auto got = received(line);
  REQUIRE_FALSE(got);
  CHECK(got.error().text == "it sent data that is not sealed");
}

}  // namespace
}  // namespace weir::real
