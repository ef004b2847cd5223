// Tensors that only some ranks of a session sum, next to tensors that all ranks sum.
#include <algorithm>

#include "backends/real/session/session.h"
#include "backends/real/session/session_layout.h"
#include "tests/backends/real/session/sessions.h"
#include "tests/catch.h"

namespace weir::real {
namespace {

TensorNote note_of(const std::string& name, std::int64_t elements, std::vector<int> ranks) {
  return {name, elements, Dtype::kF32, 0, false, std::move(ranks)};
}

Outcome<void> sum(Session& session, const std::string& name, std::vector<float>& values) {
  const auto handle = session.push_pull({name, static_cast<std::int64_t>(values.size()), Dtype::kF32, 0},
                                        values.data(), values.data());
  if (!handle) return tl::unexpected(handle.error());
  return session.wait(*handle);
}

// Every second rank, including `rank`.
std::vector<int> alike(int ranks, int rank) {
  std::vector<int> result;
  for (int i = rank % 2; i < ranks; i += 2) result.push_back(i);
  return result;
}

TEST_CASE("some ranks sum tensors of their own beside those of all") {
  for (const Shape& shape : {Shape{4, 0}, Shape{4, 2}, Shape{6, 1, "ps"}, Shape{4, 0, "colocated-ps"},
                             Shape{2, 1}, Shape{4, 1, "unified", "sealed"}}) {
    INFO(shape.ranks << " ranks, " << shape.servers << " servers, " << shape.strategy << ", "
                     << shape.transport);
    const int ranks = shape.ranks;
    const bool well = Sessions(shape).run([ranks](Session& session, int rank) -> std::string {
      constexpr std::int64_t kElements = 300'001;
      const std::string own = fmt::format("share.{}", rank % 2);
      const std::vector<int> mine = alike(ranks, rank);
      // Ranks declare in different orders.
      const auto all = [&] { return session.declare({note_of("whole", kElements, {})}); };
      if (rank == 1) {
        if (auto declared = all(); !declared) return why(declared);
      }
      if (auto declared = session.declare({note_of(own, kElements, mine)}); !declared) return why(declared);
      if (rank != 1) {
        if (auto declared = all(); !declared) return why(declared);
      }
      for (int round = 0; round < 5; ++round) {
        for (const std::string& name : {own, std::string("whole")}) {
          std::vector<float> values(kElements);
          for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = static_cast<float>(static_cast<int>(i % 100) + rank + round);
          if (auto summed = sum(session, name, values); !summed) return why(summed);
          int count = 0;
          int offset = 0;
          for (int i = 0; i < ranks; ++i) {
            if (name == own && i % 2 != rank % 2) continue;
            ++count;
            offset += i + round;
          }
          for (std::size_t i = 0; i < values.size(); ++i) {
            const auto expected = static_cast<float>(static_cast<int>(i % 100) * count + offset);
            if (values[i] != expected)
              return fmt::format("{}: element {} is {}, not {}", name, i, values[i], expected);
          }
        }
      }
      return why(session.leave());
    });
    CHECK(well);
  }
}

TEST_CASE("invalid ranks of a tensor are refused") {
  const bool well = Sessions({3, 1}).run([](Session& session, int rank) -> std::string {
    const std::vector<std::pair<std::vector<int>, std::string>> wrong = {
        {{0, 1, 2, 3}, "expected 0 to 2"},
        {{-1, 0, 1, 2}, "expected 0 to 2"},
        {{1, 0, 2}, "in ascending order"},
        {{0, 1, 1, 2}, "expected different ones"},
        {{rank == 0 ? 1 : 0}, fmt::format("rank {} is not one of them", rank)}};
    for (const auto& [ranks, expected] : wrong) {
      const auto declared = session.declare({note_of("x", 10, ranks)});
      if (declared || declared.error().status != SessionStatus::kInvalid ||
          declared.error().text.find(expected) == std::string::npos)
        return "not refused: " + expected + ", but " + why(declared);
    }
    TensorNote kept = note_of("x", 10, {0, 1, 2});
    kept.kept = true;
    const auto declared = session.declare({kept});
    if (why(declared).find("kept for all ranks") == std::string::npos) return "kept: " + why(declared);
    return why(session.leave());
  });
  CHECK(well);
}

TEST_CASE("a name that processes declare for different ranks is refused on all, and they go on") {
  const bool well = Sessions({3, 1}).run([](Session& session, int rank) -> std::string {
    std::vector<float> values(10, 1.0F);
    const std::vector<int> ranks = rank == 2 ? std::vector<int>() : std::vector<int>{0, 1};
    if (auto declared = session.declare({note_of("x", 10, ranks)}); !declared) return why(declared);
    const auto summed = sum(session, "x", values);
    if (summed || summed.error().status != SessionStatus::kMismatch) return "x: " + why(summed);
    if (summed.error().text.find("of ranks 0, 1") == std::string::npos) return summed.error().text;
    if (auto all = sum(session, "y", values); !all) return why(all);
    // A rank that hands over z has its y. So no refusal hits a y that is under way.
    if (auto all = sum(session, "z", values); !all) return why(all);
    if (auto again = session.declare({note_of("y", 10, {0, 1, 2})});
        again || again.error().status != SessionStatus::kMismatch)
      return "y: " + why(again);
    return why(session.leave());
  });
  CHECK(well);
}

TEST_CASE("a rank that waits for a tensor of some ranks learns which of these delay it") {
  Shape shape{4, 1};
  shape.patience = 2;
  const bool well = Sessions(shape).run([](Session& session, int rank) -> std::string {
    if (auto declared = session.declare({note_of(fmt::format("x.{}", rank % 2), 10, alike(4, rank))});
        !declared)
      return why(declared);
    std::vector<float> values(10, 1.0F);
    if (rank % 2 == 1) {
      if (auto summed = sum(session, "x.1", values); !summed) return why(summed);
    }
    if (rank != 2) {
      std::this_thread::sleep_for(std::chrono::seconds(4));
      return "";
    }
    const std::string error = why(sum(session, "x.0", values));
    const bool named = error.find("not handed over by rank 0") != std::string::npos;
    return named && error.find("rank 1") == std::string::npos ? "" : error;
  });
  CHECK_FALSE(well);
}

TEST_CASE("the plan for tensors of some ranks covers their machines and the servers") {
  LayoutSettings settings;
  settings.ranks = 6;
  settings.servers = 2;
  const auto layout = SessionLayout::make(settings);
  REQUIRE(layout);
  CHECK(layout->has({}));
  CHECK(layout->has({1, 5}));
  CHECK_FALSE(layout->has({5, 1}));
  CHECK_FALSE(layout->has({1, 6}));
  const std::vector<int> ranks = {1, 3, 5};
  const auto cluster = layout->cluster(ranks);
  const auto machines = layout->machines(*cluster, ranks);
  REQUIRE(machines.size() == 5);
  CHECK(layout->machines(layout->cluster(), {}).size() == 8);
  const auto planned = layout->plan({note_of("x", 1'000'000, ranks)}, ranks);
  REQUIRE(planned);
  CHECK((*planned)->plan.machines() == 5);
  const std::vector<MachineId> gpus = (*planned)->cluster->gpu_machines();
  for (std::size_t i = 0; i < 3; ++i) CHECK(layout->role(machines[gpus[i].index()]).number == ranks[i]);
  CHECK(layout->with_roles("machine rank[1] is lost: machine rank[1]", *cluster, ranks) ==
        "rank 3 is lost: rank 3");
  CHECK(layout->with_roles("machine server[1] is lost", *cluster, ranks) == "server 1 is lost");
}

}  // namespace
}  // namespace weir::real
