// Tensors that servers keep. Ranks add to them, each at its own pace.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <numeric>
#include <thread>

#include "backends/real/session/kept_tensors.h"
#include "core/plan/print.h"
#include "tests/backends/real/session/sessions.h"
#include "tests/catch.h"

namespace weir::real {
namespace {

// Writes a small whole number, which all types can represent, as an element of the type.
void put(Dtype dtype, std::byte* at, int number) {
  const auto as = [&](auto value) { std::memcpy(at, &value, sizeof value); };
  const auto single = static_cast<float>(number);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &single, sizeof bits);
  switch (dtype) {
    case Dtype::kF16:  // sign, exponent and the top of the fraction; only for normal numbers
      return as(static_cast<std::uint16_t>(number == 0 ? 0
                                                       : ((bits >> 16) & 0x8000U) |
                                                             ((((bits >> 23) & 0xffU) - 112U) << 10) |
                                                             ((bits >> 13) & 0x3ffU)));
    case Dtype::kBf16:
      return as(static_cast<std::uint16_t>(bits >> 16));
    case Dtype::kF32:
      return as(single);
    case Dtype::kF64:
      return as(static_cast<double>(number));
    case Dtype::kI32:
      return as(static_cast<std::int32_t>(number));
    case Dtype::kI64:
      return as(static_cast<std::int64_t>(number));
  }
}

std::vector<std::byte> filled(Dtype dtype, std::int64_t elements,
                              const std::function<int(std::int64_t)>& number) {
  const auto each = static_cast<std::size_t>(size(dtype).count());
  std::vector<std::byte> bytes(each * static_cast<std::size_t>(elements));
  for (std::int64_t i = 0; i < elements; ++i)
    put(dtype, bytes.data() + each * static_cast<std::size_t>(i), number(i));
  return bytes;
}

// Adds to the kept tensor, and waits for its new content.
Outcome<void> add(Session& session, const TensorNote& note, std::vector<std::byte>& bytes) {
  const auto handle = session.accumulate(note, bytes.data(), bytes.data());
  if (!handle) return tl::unexpected(handle.error());
  return session.wait(*handle);
}

template <class T>
Outcome<void> add(Session& session, const std::string& name, Dtype dtype, std::vector<T>& values) {
  const auto handle = session.accumulate({name, static_cast<std::int64_t>(values.size()), dtype, 0},
                                         values.data(), values.data());
  if (!handle) return tl::unexpected(handle.error());
  return session.wait(*handle);
}

struct Sample {
  Dtype dtype;
  std::int64_t elements;
  TensorNote note() const { return {fmt::format("{}.{}", name(dtype), elements), elements, dtype, 0}; }
};

std::vector<Sample> samples() {
  std::vector<Sample> all;
  for (const Dtype dtype : {Dtype::kF16, Dtype::kBf16, Dtype::kF32, Dtype::kF64, Dtype::kI32, Dtype::kI64}) {
    for (const std::int64_t elements : {0, 1, 1001, 100'003}) all.push_back({dtype, elements});
  }
  return all;
}

TEST_CASE("servers keep the sum of all additions, however often each rank adds") {
  // Whole numbers up to 256, which all types represent exactly.
  for (const Shape& shape :
       {Shape{2, 1}, Shape{2, 2}, Shape{3, 2, "ps", "tcp"}, Shape{1, 1}, Shape{1, 2},
        Shape{2, 2, "unified", "sealed"},
        Shape{2, 2, "colocated-ps", "auto", R"({"partition_size": "50KB", "credit": 1})"}}) {
    INFO(shape.ranks << " ranks, " << shape.servers << " servers, " << shape.transport << " "
                     << shape.options);
    const bool well = Sessions(shape).run([&](Session& session, int rank) -> std::string {
      const std::vector<Sample> all = samples();
      const int ranks = session.settings().size;
      const auto rounds = [](int of) { return 2 + 3 * of; };  // the last rank continues alone
      const auto delta = [](int of, std::int64_t i) { return static_cast<int>(i % 3) + of; };
      for (int round = 0; round < rounds(rank); ++round) {
        std::vector<std::vector<std::byte>> values;
        std::vector<Handle> handles;
        for (const Sample& sample : all) {
          values.push_back(filled(sample.dtype, sample.elements, [&](auto i) { return delta(rank, i); }));
          const auto handle = session.accumulate(sample.note(), values.back().data(), values.back().data());
          if (!handle) return handle.error().text;
          handles.push_back(*handle);
        }
        for (const Handle handle : handles) {
          if (auto arrived = session.wait(handle); !arrived) return arrived.error().text;
        }
      }
      if (auto met = session.barrier(); !met) return met.error().text;
      const auto total = [&](std::int64_t i) {
        int sum = 0;
        for (int of = 0; of < ranks; ++of) sum += rounds(of) * delta(of, i);
        return sum;
      };
      for (const Sample& sample : all) {
        std::vector<std::byte> zeros = filled(sample.dtype, sample.elements, [](auto) { return 0; });
        if (auto read = add(session, sample.note(), zeros); !read) return read.error().text;
        if (zeros != filled(sample.dtype, sample.elements, total)) return sample.note().name + " is wrong";
      }
      return why(session.leave());
    });
    CHECK(well);
  }
}

TEST_CASE("a rank gets the kept sum right after its own addition") {
  // Ranks take turns. Each sees the sum so far, not the sum of a whole round.
  const bool well = Sessions({3, 2}).run([](Session& session, int rank) -> std::string {
    if (auto declared = session.declare({{"turns", 4097, Dtype::kF32, 0, true}}); !declared)
      return declared.error().text;
    float sum = 0;
    for (int turn = 0; turn < 12; ++turn) {
      const float delta = 1.0F + 0.5F * static_cast<float>(turn);
      sum += delta;
      if (turn % 3 == rank) {
        std::vector<float> in(4097, delta);
        std::vector<float> out(4097, -1.0F);
        const auto handle = session.accumulate({"turns", 4097, Dtype::kF32, 0}, in.data(), out.data());
        if (!handle) return handle.error().text;
        if (auto arrived = session.wait(*handle); !arrived) return arrived.error().text;
        if (out != std::vector<float>(4097, sum))
          return fmt::format("turn {}: {} instead of {}", turn, out[0], sum);
        if (in != std::vector<float>(4097, delta)) return "the delta has been written to";
      }
      if (auto met = session.barrier(); !met) return met.error().text;
    }
    return why(session.leave());
  });
  CHECK(well);
}

TEST_CASE(
    "additions of several threads to one slice at once are all kept, and each gets what was kept then") {
  LayoutSettings settings;
  settings.servers = 1;
  const auto layout = SessionLayout::make(settings);
  REQUIRE(layout);
  constexpr std::int64_t kElements = 100'000;
  const auto planned = layout->kept_plan({{"x", kElements, Dtype::kI64, 0, true}});
  REQUIRE(planned);
  const Plan& plan = (*planned)->plan;
  const MachineId server = (*planned)->cluster->cpu_machines().front();
  auto kept = KeptTensors::make(plan, server);
  REQUIRE(kept);
  const auto ops = plan.ops(server);
  const auto update =
      std::find_if(ops.begin(), ops.end(), [](const Op& op) { return op.kind == OpKind::kUpdate; });
  REQUIRE(update != ops.end());
  REQUIRE(update->into.size == Bytes(8 * kElements));
  constexpr int kThreads = 4;
  constexpr int kRounds = 300;
  std::vector<std::thread> threads;
  std::vector<int> torn(kThreads, 0);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      std::vector<std::int64_t> values;
      for (int round = 0; round < kRounds; ++round) {
        values.assign(kElements, 1);
        (*kept)->add(*update, std::as_writable_bytes(std::span(values)));
        const bool whole =
            std::all_of(values.begin(), values.end(), [&](auto one) { return one == values[0]; });
        if (!whole) ++torn[static_cast<std::size_t>(i)];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(torn == std::vector<int>(kThreads, 0));
  std::vector<std::int64_t> values(kElements, 0);
  (*kept)->add(*update, std::as_writable_bytes(std::span(values)));
  CHECK(values == std::vector<std::int64_t>(kElements, std::int64_t{kThreads} * kRounds));
}

TEST_CASE("simultaneous additions to the same bytes are all kept") {
  const bool well = Sessions({4, 1}).run([](Session& session, int rank) -> std::string {
    constexpr std::size_t kElements = 20'000;
    constexpr int kRounds = 60;
    std::vector<std::int64_t> values;
    std::int64_t seen = 0;
    for (int round = 0; round < kRounds; ++round) {
      values.assign(kElements, 1 + rank);
      if (auto added = add(session, "x", Dtype::kI64, values); !added) return added.error().text;
      if (values[0] < seen + 1 + rank) return fmt::format("{} after {}", values[0], seen);
      seen = values[0];
    }
    if (auto met = session.barrier(); !met) return met.error().text;
    values.assign(kElements, 0);
    if (auto read = add(session, "x", Dtype::kI64, values); !read) return read.error().text;
    if (values != std::vector<std::int64_t>(kElements, std::int64_t{kRounds} * (1 + 2 + 3 + 4)))
      return fmt::format("{} is kept in the end", values[0]);
    return why(session.leave());
  });
  CHECK(well);
}

TEST_CASE("kept and summed tensors can be declared together") {
  const bool well = Sessions({2, 1}).run([](Session& session, int rank) -> std::string {
    std::vector<TensorNote> notes = {{"summed", 100, Dtype::kF32, 1}, {"kept", 100, Dtype::kF32, 2, true}};
    if (auto declared = session.declare(notes); !declared) return declared.error().text;
    for (int round = 0; round < 5; ++round) {
      std::vector<float> summed(100, 1.0F);
      const auto handle = session.push_pull(notes[0], summed.data(), summed.data());
      if (!handle) return handle.error().text;
      for (int again = 0; again <= rank; ++again) {
        std::vector<float> kept(100, 1.0F);
        if (auto added = add(session, "kept", Dtype::kF32, kept); !added) return added.error().text;
      }
      if (auto arrived = session.wait(*handle); !arrived) return arrived.error().text;
      if (summed[99] != 2.0F) return fmt::format("the sum is {}", summed[99]);
    }
    if (auto met = session.barrier(); !met) return met.error().text;
    std::vector<float> kept(100);
    if (auto read = add(session, "kept", Dtype::kF32, kept); !read) return read.error().text;
    if (kept[0] != 15.0F) return fmt::format("{} is kept", kept[0]);
    return why(session.leave());
  });
  CHECK(well);
}

TEST_CASE("a name that is kept on one rank and summed on another is refused on all, and they go on") {
  const bool well = Sessions({2, 1}).run([](Session& session, int rank) -> std::string {
    std::vector<float> values(10, 1.0F);
    const TensorNote note = {"mixed", 10, Dtype::kF32, 0};
    const auto handle = rank == 0 ? session.accumulate(note, values.data(), values.data())
                                  : session.push_pull(note, values.data(), values.data());
    if (!handle) return handle.error().text;
    const auto waited = session.wait(*handle);
    if (waited) return "nobody has refused it";
    if (waited.error().status != SessionStatus::kMismatch) return waited.error().text;
    for (const char* const word : {"'mixed'", "rank 0", "rank 1", "to be kept"}) {
      if (waited.error().text.find(word) == std::string::npos) return waited.error().text;
    }
    // The same error on one rank alone, which tells the others.
    std::vector<float> fine(10, 1.0F);
    if (auto added = add(session, "good", Dtype::kF32, fine); !added) return added.error().text;
    if (auto met = session.barrier(); !met) return met.error().text;
    if (rank == 1) {
      const auto summed = session.push_pull({"good", 10, Dtype::kF32, 0}, fine.data(), fine.data());
      if (summed || summed.error().status != SessionStatus::kMismatch) return "summed what is kept";
    } else {
      Outcome<void> added;
      while (added) added = add(session, "good", Dtype::kF32, fine);
      if (added.error().status != SessionStatus::kMismatch) return added.error().text;
    }
    if (auto other = add(session, "other", Dtype::kF32, fine); !other) return other.error().text;
    return why(session.leave());
  });
  CHECK(well);
}

TEST_CASE("without servers nothing is kept, and the error says what to do") {
  for (const int ranks : {1, 2}) {
    Sessions({ranks, 0}).run([](Session& session, int) -> std::string {
      std::vector<float> values(10, 1.0F);
      const auto added = session.accumulate({"x", 10, Dtype::kF32, 0}, values.data(), values.data());
      const auto declared = session.declare({{"a", 1, Dtype::kF32, 0}, {"x", 10, Dtype::kF32, 0, true}});
      if (added || declared) return "somebody keeps it";
      for (const SessionError& error : {added.error(), declared.error()}) {
        if (error.status != SessionStatus::kInvalid) return error.text;
        if (error.text.find("--servers 1") == std::string::npos) return error.text;
        if (error.text.find("'x'") == std::string::npos) return error.text;
      }
      const auto summed = session.push_pull({"x", 10, Dtype::kF32, 0}, values.data(), values.data());
      if (!summed) return "it has changed something: " + summed.error().text;
      return why(session.leave());
    });
  }
  Sessions({1, 1}).run([](Session& session, int) -> std::string {
    float value = 1;
    const auto added = session.accumulate({"", 1, Dtype::kF32, 0}, &value, &value);
    if (added || added.error().status != SessionStatus::kInvalid) return "it has no name";
    return why(session.leave());
  });
}

TEST_CASE("a rank that adds waits only for servers, once all ranks know the tensor") {
  SECTION("a rank that has left is not missed") {
    using Clock = std::chrono::steady_clock;
    const bool well = Sessions({2, 1}).run([&](Session& session, int rank) -> std::string {
      const TensorNote note = {"x", 4'000'000, Dtype::kF32, 0};
      std::vector<float> out(4'000'000, 1.0F);
      if (auto added = add(session, "x", Dtype::kF32, out); !added) return added.error().text;
      if (auto met = session.barrier(); !met) return met.error().text;
      if (rank == 1) return why(session.leave());
      std::fill(out.begin(), out.end(), 0.0F);
      const Clock::time_point began = Clock::now();
      if (auto added = add(session, "x", Dtype::kF32, out); !added) return added.error().text;
      // Starts so many additions at once that the last wait is long enough to ask which rank it waits for.
      const auto once = std::max<Clock::duration>(Clock::now() - began, std::chrono::milliseconds(10));
      const auto rounds = std::max<std::int64_t>(2, std::chrono::seconds(4) / once);
      const std::vector<float> many(4'000'000, 1.0F);
      Handle last = 0;
      for (std::int64_t i = 0; i < rounds; ++i) {
        const auto handle = session.accumulate(note, many.data(), out.data());
        if (!handle) return handle.error().text;
        last = *handle;
      }
      if (auto arrived = session.wait(last); !arrived) return arrived.error().text;
      const auto expected = static_cast<float>(2 + rounds);
      if (out.front() != expected || out.back() != expected) return fmt::format("{} is kept", out.front());
      return why(session.leave());
    });
    CHECK(well);
  }
  SECTION("a rank that does not know it is named") {
    Shape shape{3, 1};
    shape.patience = 2;
    const auto began = std::chrono::steady_clock::now();
    CHECK_FALSE(Sessions(shape).run([](Session& session, int rank) -> std::string {
      if (rank == 1) {
        std::this_thread::sleep_for(std::chrono::seconds(4));
        return {};
      }
      std::vector<float> values(10);
      const auto added = add(session, "x", Dtype::kF32, values);
      if (added) return "it was kept";
      return added.error().text.find("not declared by rank 1") == std::string::npos ? added.error().text : "";
    }));
    CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(10));
  }
}

TEST_CASE("a rank that ends or fails while others add is named to them") {
  for (const auto& [way, expected] :
       {std::pair<std::string, std::string>{"ends", "rank 1 has ended"}, {"aborts", "its disk is full"}}) {
    INFO(way);
    const auto began = std::chrono::steady_clock::now();
    const bool well =
        Sessions({3, 2}).run([&way = way, &expected = expected](Session& session, int rank) -> std::string {
          std::vector<float> values(1000, 1.0F);
          if (auto added = add(session, "x", Dtype::kF32, values); !added) return added.error().text;
          if (auto met = session.barrier(); !met) return met.error().text;
          if (rank == 1) {
            if (way == "aborts") session.abort("its disk is full");
            return {};
          }
          Outcome<void> added;
          while (added) added = add(session, "x", Dtype::kF32, values);
          const bool named = added.error().text.find(expected) != std::string::npos;
          return named ? "" : added.error().text;
        });
    CHECK_FALSE(well);
    CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(10));
  }
}

TEST_CASE(
    "the plan of kept tensors is proved, updates each part on one server, and is the same for all ranks") {
  LayoutSettings settings;
  settings.ranks = 3;
  settings.servers = 2;
  settings.options = R"({"partition_size": "100KB"})";
  const auto layout = SessionLayout::make(settings);
  REQUIRE(layout);
  const std::int64_t elements = 1'000'003;
  const auto planned = layout->kept_plan({{"x", elements, Dtype::kF32, 0, true}});
  REQUIRE(planned);
  const Plan& plan = (*planned)->plan;
  CHECK(plan.machines() == 3);  // one rank and the servers
  std::vector<std::int64_t> updated;
  for (const MachineId server : (*planned)->cluster->cpu_machines()) {
    std::int64_t bytes = 0;
    for (const Op& op : plan.ops(server)) bytes += op.kind == OpKind::kUpdate ? op.into.size.count() : 0;
    updated.push_back(bytes);
  }
  CHECK(std::accumulate(updated.begin(), updated.end(), std::int64_t{0}) == 4 * elements);
  CHECK(std::abs(updated[0] - updated[1]) <= 100'000);
  CHECK((*planned)->hash == (*layout->kept_plan({{"x", elements, Dtype::kF32, 0, true}}))->hash);
  for (int rank = 0; rank < 3; ++rank) {
    const Cluster& cluster = *(*planned)->cluster;
    const auto machines = layout->machines(cluster, {rank});
    REQUIRE(machines.size() == 3);
    CHECK(layout->role(machines[(*planned)->cluster->gpu_machines().front().index()]).number == rank);
    CHECK(layout->with_roles("machine rank[0] is lost: x", cluster, {rank}) ==
          fmt::format("rank {} is lost: x", rank));
    CHECK(layout->with_roles("machine server[1] is lost", cluster, {rank}) == "server 1 is lost");
  }
}

}  // namespace
}  // namespace weir::real
