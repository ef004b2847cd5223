// Training sessions whose tensors are on GPUs. The ranks are threads of this process; all use the first
// device.
#include <algorithm>
#include <thread>

#include "backends/real/job/host.h"
#include "backends/real/session/session.h"
#include "tests/backends/real/session/sessions.h"
#include "tests/catch.h"

namespace weir::real {
namespace {

// Runs some rounds on one rank. Returns what went wrong; empty if nothing did.
std::string train(const SessionSettings& settings, bool in_place) {
  auto session = Session::join(settings, "test");
  if (!session) return session.error().text;
  auto gpus = Gpus::open({0});
  if (!gpus) return gpus.error().text;
  constexpr std::size_t kElements = 3'000'001;
  constexpr Bytes kSize{kElements * sizeof(float)};
  const auto in = (*gpus)->allocate(0, kSize);
  const auto out = in_place ? in : (*gpus)->allocate(0, kSize);
  if (!in || !out) return "no memory";
  std::vector<float> values(kElements);
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(values));
  for (int round = 0; round < 4; ++round) {
    for (std::size_t i = 0; i < kElements; ++i)
      values[i] = static_cast<float>(i % 1000) + static_cast<float>(settings.role.number + round);
    if (auto copied = (*gpus)->copy(0, {*in, bytes.size()}, bytes); !copied) return copied.error().text;
    const auto handle = (*session)->push_pull({"x", kElements, Dtype::kF32, 0}, *in, *out, {0, nullptr});
    if (!handle) return handle.error().text;
    if (auto arrived = (*session)->wait(*handle); !arrived) return arrived.error().text;
    if (auto copied = (*gpus)->copy(0, bytes, {*out, bytes.size()}); !copied) return copied.error().text;
    for (std::size_t i = 0; i < kElements; ++i) {
      const auto n = static_cast<float>(settings.size);
      const float expected = n * (static_cast<float>(i % 1000) + static_cast<float>(round)) + n * (n - 1) / 2;
      if (values[i] != expected)
        return fmt::format("round {}: element {} is {}, not {}", round, i, values[i], expected);
    }
  }
  // A group cannot contain a tensor of another GPU, nor one of a GPU that does not exist.
  if ((*session)->push_pull({"y", 1, Dtype::kF32, 0}, *in, *in, {1'000, nullptr}))
    return "there is no such device";
  const auto left = (*session)->leave();
  return left ? "" : left.error().text;
}

TEST_CASE("sums over ranks arrive on their GPUs") {
  for (const auto& [ranks, servers, in_place] :
       {std::tuple(1, 0, true), std::tuple(1, 0, false), std::tuple(2, 0, true), std::tuple(3, 2, false)}) {
    INFO(ranks << " ranks and " << servers << " servers" << (in_place ? ", in place" : ""));
    auto listener = listen_at({"127.0.0.1", 0});
    REQUIRE(listener);
    SessionSettings settings;
    settings.size = ranks;
    settings.servers = servers;
    settings.leader = text(listening_at(*listener));
    settings.secret = hexadecimal(*make_token());
    settings.patience = 30;
    *listener = Descriptor();
    std::vector<std::thread> threads;
    std::vector<std::string> wrong(static_cast<std::size_t>(ranks + servers));
    for (int i = 0; i < ranks + servers; ++i) {
      SessionSettings own = settings;
      own.role = {i >= ranks, i >= ranks ? i - ranks : i};
      threads.emplace_back([own, in_place = in_place, &mine = wrong[static_cast<std::size_t>(i)]] {
        if (own.role.server) {
          const auto served = serve_session(own, "test");
          mine = served ? "" : served.error().text;
        } else {
          mine = train(own, in_place);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::string& text : wrong) CHECK_THAT(text, Catch::Matchers::Equals(""));
  }
}

TEST_CASE("GPUs add to tensors that servers keep, and get them back") {
  const Shape shape{2, 2, "unified", "auto", R"({"partition_size": "1MB"})"};
  CHECK(Sessions(shape).run([](Session& session, int rank) -> std::string {
    auto gpus = Gpus::open({0});
    if (!gpus) return gpus.error().text;
    constexpr std::size_t kElements = 1'000'003;
    constexpr Bytes kSize{kElements * sizeof(float)};
    const auto delta = (*gpus)->allocate(0, kSize);
    const auto weights = (*gpus)->allocate(0, kSize);
    if (!delta || !weights) return "no memory";
    std::vector<float> values(kElements);
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(values));
    const auto add = [&](float each) -> std::string {
      std::fill(values.begin(), values.end(), each);
      if (auto copied = (*gpus)->copy(0, {*delta, bytes.size()}, bytes); !copied) return copied.error().text;
      const auto handle =
          session.accumulate({"x", kElements, Dtype::kF32, 0}, *delta, *weights, {0, nullptr});
      if (!handle) return handle.error().text;
      if (auto arrived = session.wait(*handle); !arrived) return arrived.error().text;
      const auto copied = (*gpus)->copy(0, bytes, {*weights, bytes.size()});
      return copied ? "" : copied.error().text;
    };
    for (int round = 0; round < 3 + 4 * rank; ++round) {
      if (auto wrong = add(1.0F + static_cast<float>(rank)); !wrong.empty()) return wrong;
    }
    if (auto met = session.barrier(); !met) return met.error().text;
    if (auto wrong = add(0.0F); !wrong.empty()) return wrong;
    if (values != std::vector<float>(kElements, 3.0F * 1.0F + 7.0F * 2.0F))
      return fmt::format("{} is kept", values[0]);
    return why(session.leave());
  }));
}

}  // namespace
}  // namespace weir::real
