// Training sessions of several ranks and servers. Each is a set of threads of this process.
#include "backends/real/session/session.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "tests/backends/real/session/sessions.h"
#include "tests/catch.h"

namespace weir::real {
namespace {

template <class T>
Outcome<void> sum(Session& session, const std::string& name, Dtype dtype, std::vector<T>& values) {
  const auto handle = session.push_pull({name, static_cast<std::int64_t>(values.size()), dtype, 0},
                                        values.data(), values.data());
  if (!handle) return tl::unexpected(handle.error());
  return session.wait(*handle);
}

// Sums a tensor whose values encode rank, round and element. Returns what is wrong with the sum.
template <class T>
std::string round_of(Session& session, const std::string& name, Dtype dtype, std::size_t elements,
                     std::int64_t round) {
  const int size = session.settings().size;
  const int rank = session.settings().role.number;
  std::vector<T> values(elements);
  for (std::size_t i = 0; i < elements; ++i)
    values[i] = static_cast<T>(static_cast<std::int64_t>(i % 1000) + rank + round);
  if (auto summed = sum(session, name, dtype, values); !summed) return summed.error().text;
  for (std::size_t i = 0; i < elements; ++i) {
    const std::int64_t of_ranks = size * (size - 1) / 2;
    const auto expected = static_cast<T>(size * (static_cast<std::int64_t>(i % 1000) + round) + of_ranks);
    if (values[i] != expected)
      return fmt::format("{} in round {}: element {} is {}, not {}", name, round, i, values[i], expected);
  }
  return {};
}

TEST_CASE("sums over ranks arrive at all of them, whoever sums") {
  for (const Shape& shape :
       {Shape{1, 0}, Shape{2, 0}, Shape{3, 1}, Shape{2, 2, "ps"}, Shape{3, 0, "colocated-ps"},
        Shape{2, 1, "unified", "tcp"}, Shape{2, 1, "unified", "sealed"}, Shape{1, 1},
        Shape{3, 2, "unified", "auto", R"({"partition_size": "100KB"})"}}) {
    INFO(shape.ranks << " ranks, " << shape.servers << " servers, " << shape.strategy << ", "
                     << shape.transport);
    const bool well = Sessions(shape).run([](Session& session, int) -> std::string {
      for (std::int64_t round = 0; round < 4; ++round) {
        for (const std::size_t elements : {1UL, 0UL, 1001UL, 300'000UL}) {
          const std::string end = fmt::format(".{}", elements);
          for (const std::string& wrong :
               {round_of<float>(session, "f32" + end, Dtype::kF32, elements, round),
                round_of<double>(session, "f64" + end, Dtype::kF64, elements, round),
                round_of<std::int32_t>(session, "i32" + end, Dtype::kI32, elements, round),
                round_of<std::int64_t>(session, "", Dtype::kI64, elements, round)}) {
            if (!wrong.empty()) return wrong;
          }
        }
      }
      return why(session.leave());
    });
    CHECK(well);
  }
}

TEST_CASE("a session that has planned often ends at once") {
  const bool well = Sessions({2, 1}).run([](Session& session, int) -> std::string {
    for (int i = 0; i < 100; ++i) {
      if (auto wrong = round_of<float>(session, fmt::format("t{}", i), Dtype::kF32, 10, 0); !wrong.empty())
        return wrong;
    }
    const auto begin = std::chrono::steady_clock::now();
    if (auto left = session.leave(); !left) return left.error().text;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    return took.count() < 2 ? "" : fmt::format("to leave took {} s", took.count());
  });
  CHECK(well);
}

TEST_CASE("each tensor goes in rounds of its own, whatever the order on each rank") {
  const bool well = Sessions({3, 1}).run([](Session& session, int rank) -> std::string {
    constexpr std::int64_t kElements = 50'000;
    const std::vector<std::string> names = {"often", "seldom", "last"};
    std::vector<TensorNote> notes;
    for (const std::string& name : names) notes.push_back({name, kElements, Dtype::kF32, 0});
    if (auto declared = session.declare(notes); !declared) return declared.error().text;
    for (std::int64_t round = 0; round < 20; ++round) {
      if (auto wrong = round_of<float>(session, "often", Dtype::kF32, kElements, round); !wrong.empty())
        return wrong;
    }
    // All at once, in a different order on each rank, with several rounds of each tensor in flight.
    std::vector<std::vector<float>> values;
    std::vector<Handle> handles;
    constexpr int kRounds = 3;
    for (int i = 0; i < 3 * kRounds; ++i) {
      const int round = i / 3;
      const std::string& name = names[static_cast<std::size_t>((i + rank) % 3)];
      values.emplace_back(static_cast<std::size_t>(kElements), static_cast<float>(round + 1));
      const auto handle =
          session.push_pull({name, kElements, Dtype::kF32, 0}, values.back().data(), values.back().data());
      if (!handle) return handle.error().text;
      handles.push_back(*handle);
    }
    for (std::size_t i = handles.size(); i-- > 0;) {
      if (auto arrived = session.wait(handles[i]); !arrived) return arrived.error().text;
      const std::size_t round = i / 3;
      const float expected = 3.0F * static_cast<float>(round + 1);
      if (values[i].front() != expected || values[i].back() != expected)
        return fmt::format("hand-over {} is wrong", i);
    }
    if (session.poll(handles[0])) return "a handle that was waited for is known still";
    if (session.speed() <= 0) return "nothing has arrived";
    return why(session.leave());
  });
  CHECK(well);
}

TEST_CASE("bytes of each rank arrive at all others") {
  const bool well = Sessions({3, 0}).run([](Session& session, int rank) -> std::string {
    for (int root = 0; root < 3; ++root) {
      for (const std::size_t bytes : {0UL, 1UL, 7UL, 100'001UL}) {
        std::vector<std::uint8_t> data(bytes, static_cast<std::uint8_t>(rank == root ? 200 + root : 99));
        const auto handle =
            session.broadcast(fmt::format("{}", bytes), data.data(), static_cast<std::int64_t>(bytes), root);
        if (!handle) return handle.error().text;
        if (auto arrived = session.wait(*handle); !arrived) return arrived.error().text;
        for (const std::uint8_t one : data) {
          if (one != 200 + root) return fmt::format("{} instead of {}", one, 200 + root);
        }
      }
    }
    std::uint8_t none = 0;
    if (session.broadcast("x", &none, 1, 3)) return "there is no rank 3";
    if (auto met = session.barrier(); !met) return met.error().text;
    return why(session.leave());
  });
  CHECK(well);
}

TEST_CASE("ranks that name different roots all get an error, and go on") {
  for (const std::vector<int>& roots : {std::vector<int>{0, 2, 1}, {1, 1, 0}, {0, 1, 2}}) {
    const bool well = Sessions({3, 1}).run([&](Session& session, int rank) -> std::string {
      std::array<char, 5> bytes{};
      const auto handle = session.broadcast("x", bytes.data(), 5, roots[static_cast<std::size_t>(rank)]);
      if (!handle) return handle.error().text;
      const auto arrived = session.wait(*handle);
      if (arrived || arrived.error().status != SessionStatus::kMismatch) return "x: " + why(arrived);
      if (arrived.error().text.find("different roots") == std::string::npos) return arrived.error().text;
      const auto again = session.broadcast("x", bytes.data(), 5, 2);
      if (!again) return again.error().text;
      if (const auto came = session.wait(*again); !came) return came.error().text;
      return why(session.leave());
    });
    CHECK(well);
  }
}

TEST_CASE("ranks that disagree about a tensor all get an error, and go on with others") {
  const bool well = Sessions({3, 1}).run([](Session& session, int rank) -> std::string {
    for (const char* const name : {"sizes", "types"}) {
      std::vector<float> values(rank == 2 ? 20 : 10);
      std::vector<std::int32_t> whole(10);
      const auto summed = name[0] == 't' && rank == 0 ? sum(session, name, Dtype::kI32, whole)
                                                      : sum(session, name, Dtype::kF32, values);
      if (summed) return "nobody has refused it";
      if (summed.error().status != SessionStatus::kMismatch) return summed.error().text;
      if (summed.error().text.find(name) == std::string::npos) return "not named: " + summed.error().text;
    }
    std::vector<float> values(10, 1.0F);
    if (auto summed = sum(session, "good", Dtype::kF32, values); !summed) return summed.error().text;
    // One rank changes the shape after the first round. The others are waiting by then, or will be.
    std::vector<float> changed(rank == 1 ? 11 : 10, 1.0F);
    const auto summed = sum(session, "good", Dtype::kF32, changed);
    if (summed) return "nobody has refused the change";
    if (summed.error().status != SessionStatus::kMismatch) return summed.error().text;
    if (auto wrong = round_of<float>(session, "other", Dtype::kF32, 100, 1); !wrong.empty()) return wrong;
    return why(session.leave());
  });
  CHECK(well);
}

TEST_CASE("a rank that leaves, ends, gives up or idles is named to those that wait for it") {
  const std::vector<std::pair<std::string, std::string>> ways = {{"leaves", "rank 1, which has left"},
                                                                 {"ends", "rank 1 has ended"},
                                                                 {"aborts", "its disk is full"},
                                                                 {"idles", "not handed over by rank 1"}};
  for (const auto& [way, expected] : ways) {
    INFO(way);
    Shape shape{3, 1};
    shape.patience = 2;
    const auto began = std::chrono::steady_clock::now();
    const bool well =
        Sessions(shape).run([&way = way, &expected = expected](Session& session, int rank) -> std::string {
          if (auto wrong = round_of<float>(session, "x", Dtype::kF32, 1000, 1); !wrong.empty()) return wrong;
          if (rank == 1) {
            if (way == "leaves") (void)session.leave();
            if (way == "aborts") session.abort("its disk is full");
            if (way == "idles") std::this_thread::sleep_for(std::chrono::seconds(4));
            return {};
          }
          std::vector<float> values(1000);
          const auto summed = sum(session, "x", Dtype::kF32, values);
          if (summed) return "it arrived";
          const bool named = summed.error().text.find(expected) != std::string::npos;
          return named ? "" : summed.error().text;
        });
    CHECK_FALSE(well);
    CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(10));
  }
}

TEST_CASE("nothing beyond a tensor's last element is read or written, whatever is planned beside it") {
  // A plan aligns gradients to the largest elements, so those of smaller types get more room than they fill.
  CHECK(Sessions({2, 1}).run([](Session& session, int) -> std::string {
    constexpr auto kMark = std::byte{0x3c};
    constexpr std::size_t kRest = 16;
    std::vector<TensorNote> notes;
    for (const Dtype dtype :
         {Dtype::kF16, Dtype::kBf16, Dtype::kF32, Dtype::kF64, Dtype::kI32, Dtype::kI64}) {
      for (const std::int64_t elements : {1, 3, 5, 1001})
        notes.push_back({fmt::format("{}.{}", name(dtype), elements), elements, dtype, 0});
    }
    if (auto declared = session.declare(notes); !declared) return declared.error().text;
    for (int round = 0; round < 2; ++round) {
      std::vector<std::vector<std::byte>> memory;
      std::vector<Handle> handles;
      for (const TensorNote& note : notes) {
        memory.emplace_back(static_cast<std::size_t>((size(note.dtype) * note.elements).count()) + kRest,
                            kMark);
        const auto handle = session.push_pull(note, memory.back().data(), memory.back().data());
        if (!handle) return handle.error().text;
        handles.push_back(*handle);
      }
      for (std::size_t i = 0; i < notes.size(); ++i) {
        if (auto arrived = session.wait(handles[i]); !arrived) return arrived.error().text;
        const std::span<const std::byte> all(memory[i]);
        const auto is_mark = [](std::byte one) { return one == kMark; };
        if (std::all_of(all.begin(), all.end() - kRest, is_mark)) return notes[i].name + " is no sum";
        if (!std::all_of(all.end() - kRest, all.end(), is_mark)) return notes[i].name + " has run over";
      }
    }
    return why(session.leave());
  }));
}

TEST_CASE("a session may follow another at the same place") {
  Sessions sessions({3, 1});
  for (int i = 0; i < 4; ++i) {
    CHECK(sessions.run([](Session& session, int) -> std::string {
      if (auto met = session.barrier(); !met) return met.error().text;
      return why(session.leave());
    }));
  }
  // Ranks do not wait for each other; each is as fast as it can be.
  std::vector<std::thread> threads;
  std::vector<std::string> wrong(2);
  const Sessions two({2, 0});
  for (int rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&, rank] {
      std::string& mine = wrong[static_cast<std::size_t>(rank)];
      for (int i = 0; i < 5 && mine.empty(); ++i) {
        auto session = Session::join(two.settings(false, rank), kVersion);
        mine = why(session);
        if (mine.empty()) mine = why((*session)->barrier());
        if (mine.empty()) mine = why((*session)->leave());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<std::string>(2));
}

TEST_CASE("strangers are kept out of a session, and missing processes are named") {
  const Sessions sessions({2, 1, "unified", "auto", "", 1});
  SECTION("somebody does not come") {
    const auto alone = Session::join(sessions.settings(false, 0), kVersion);
    REQUIRE_FALSE(alone);
    CHECK(alone.error().text.find("rank 1, server 0") != std::string::npos);
  }
  SECTION("nobody leads") {
    const auto other = Session::join(sessions.settings(false, 1), kVersion);
    REQUIRE_FALSE(other);
    CHECK(other.error().text.find("has not admitted rank 1") != std::string::npos);
  }
  SECTION("another version") {
    std::thread leads([&] { CHECK_FALSE(Session::join(sessions.settings(false, 0), kVersion)); });
    const auto other = Session::join(sessions.settings(false, 1), "another");
    leads.join();
    REQUIRE_FALSE(other);
    CHECK(other.error().text.find("rank 1 runs version another") != std::string::npos);
  }
  SECTION("settings that fit nothing") {
    for (const auto& [key, value] : std::map<std::string, std::string>{{"strategy", "rings"},
                                                                       {"options", "{\"credt\": 1}"},
                                                                       {"topology", "/nowhere.json"},
                                                                       {"settings", "/nowhere.json"},
                                                                       {"leader", "nowhere"},
                                                                       {"secret", "short"}}) {
      SessionSettings settings = sessions.settings(false, 0);
      (key == "strategy"   ? settings.strategy
       : key == "options"  ? settings.options
       : key == "topology" ? settings.topology
       : key == "settings" ? settings.settings
       : key == "leader"   ? settings.leader
                           : settings.secret) = value;
      const auto refused = Session::join(settings, kVersion);
      REQUIRE_FALSE(refused);
      CHECK(refused.error().status == SessionStatus::kInvalid);
      INFO(refused.error().text);
      const bool file = key == "topology" || key == "settings";
      CHECK(refused.error().text.find(file ? "/nowhere.json" : key) != std::string::npos);
    }
  }
}

}  // namespace
}  // namespace weir::real
