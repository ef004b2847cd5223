// Sessions with every strategy of the table.
#include <numeric>

#include "backends/real/session/session.h"
#include "backends/real/session/session_layout.h"
#include "core/strategies/strategy.h"
#include "tests/backends/real/session/sessions.h"
#include "tests/catch.h"

namespace weir::real {
namespace {

Result<SessionLayout> layout_of(const Shape& shape) {
  LayoutSettings settings;
  settings.ranks = shape.ranks;
  settings.servers = shape.servers;
  settings.strategy = shape.strategy;
  settings.options = shape.options;
  return SessionLayout::make(settings);
}

// Whether the strategy needs servers but the shape has none.
bool needs_servers(const Shape& shape) {
  const auto layout = layout_of(shape);
  return !layout && shape.servers == 0 &&
         layout.error().text.find("at least one machine without GPUs") != std::string::npos;
}

struct Tensor {
  std::string name;
  std::int64_t elements;
  std::vector<int> ranks;  // all ranks if empty
  TensorNote note() const { return {name, elements, Dtype::kF32, 0, false, ranks, "", -1}; }
  bool is_of(int rank) const {
    return ranks.empty() || std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
  }
};

// Small and large tensors, an empty one, and some that not all ranks sum.
std::vector<Tensor> tensors(int ranks) {
  std::vector<Tensor> all = {{"one", 1, {}}, {"none", 0, {}}, {"odd", 1'001, {}}, {"large", 300'001, {}}};
  std::vector<int> last(static_cast<std::size_t>(ranks - 1));
  std::iota(last.begin(), last.end(), 1);
  all.push_back({"of some", 70'001, last});
  return all;
}

// Hands over all tensors of a round at once, in a different order on each rank, and checks the sums.
std::string round_of(Session& session, const std::vector<Tensor>& all, int rank, int round) {
  std::vector<std::vector<float>> values(all.size());
  std::vector<std::pair<std::size_t, Handle>> handles;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const std::size_t t = (k + static_cast<std::size_t>(rank + round)) % all.size();
    const Tensor& tensor = all[t];
    if (!tensor.is_of(rank)) continue;
    for (std::int64_t i = 0; i < tensor.elements; ++i)
      values[t].push_back(static_cast<float>(static_cast<int>(i % 100) + rank + round));
    TensorNote note = tensor.note();
    const auto handle = session.push_pull(note, values[t].data(), values[t].data());
    if (!handle) return handle.error().text;
    handles.emplace_back(t, *handle);
  }
  for (const auto& [t, handle] : handles) {
    if (auto arrived = session.wait(handle); !arrived) return arrived.error().text;
    int count = 0;
    int offset = 0;
    for (int i = 0; i < session.settings().size; ++i) {
      if (!all[t].is_of(i)) continue;
      ++count;
      offset += i + round;
    }
    for (std::size_t i = 0; i < values[t].size(); ++i) {
      const auto expected = static_cast<float>(static_cast<int>(i % 100) * count + offset);
      if (values[t][i] != expected)
        return fmt::format("{} in round {}: element {} is {}, not {}", all[t].name, round, i, values[t][i],
                           expected);
    }
  }
  return {};
}

TEST_CASE("every strategy that can train sums tensors in any order, of all ranks and of some") {
  for (const Strategy& strategy : strategies()) {
    if (!strategy.cannot_train.empty()) continue;
    const std::string name(strategy.name);
    for (const Shape& shape :
         {Shape{4, 2, name}, Shape{3, 0, name}, Shape{2, 1, name, "tcp"},
          Shape{5, 0, name, "auto", R"({"partition_size": "50KB", "fusion_size": "60KB"})"}}) {
      INFO(shape.ranks << " ranks, " << shape.servers << " servers, " << shape.strategy);
      if (needs_servers(shape)) continue;
      const std::vector<Tensor> all = tensors(shape.ranks);
      const bool well = Sessions(shape).run([&](Session& session, int rank) -> std::string {
        std::vector<TensorNote> notes;
        for (const Tensor& tensor : all) {
          if (tensor.is_of(rank)) notes.push_back(tensor.note());
        }
        if (auto declared = session.declare(notes); !declared) return why(declared);
        for (int round = 0; round < 5; ++round) {
          if (auto wrong = round_of(session, all, rank, round); !wrong.empty()) return wrong;
        }
        return why(session.leave());
      });
      CHECK(well);
    }
  }
}

TEST_CASE("servers keep tensors whichever strategy sums the others") {
  for (const Strategy& strategy : strategies()) {
    if (!strategy.cannot_train.empty()) continue;
    INFO(strategy.name);
    const bool well =
        Sessions({2, 2, std::string(strategy.name)}).run([](Session& session, int) -> std::string {
          std::vector<float> values(10'001, 1.0F);
          for (int round = 0; round < 3; ++round) {
            std::fill(values.begin(), values.end(), 1.0F);
            const auto handle =
                session.accumulate({"kept", 10'001, Dtype::kF32, 0}, values.data(), values.data());
            if (!handle) return handle.error().text;
            if (auto arrived = session.wait(*handle); !arrived) return arrived.error().text;
          }
          if (auto met = session.barrier(); !met) return met.error().text;
          std::fill(values.begin(), values.end(), 0.0F);
          const auto handle =
              session.accumulate({"kept", 10'001, Dtype::kF32, 0}, values.data(), values.data());
          if (!handle) return handle.error().text;
          if (auto arrived = session.wait(*handle); !arrived) return arrived.error().text;
          if (values.front() != 6.0F || values.back() != 6.0F) return fmt::format("{}", values.front());
          return why(session.leave());
        });
    CHECK(well);
  }
}

TEST_CASE("no tensor of a session waits for another, whichever strategy plans them") {
  for (const Strategy& strategy : strategies()) {
    if (!strategy.cannot_train.empty()) continue;
    INFO(strategy.name);
    const auto layout = layout_of({3, 2, std::string(strategy.name)});
    REQUIRE(layout);
    const auto planned = layout->plan({{"a", 1'000'000, Dtype::kF32, 0}, {"b", 70'000, Dtype::kF32, 0}}, {});
    REQUIRE(planned);
    const Plan& plan = (*planned)->plan;
    for (const Op& op : plan.ops()) {
      for (const Successor successor : plan.successors(op.id))
        CHECK(plan.op(OpId(successor.op)).layer == op.layer);
      // Only copies may read and write the application's memory.
      if (op.kind == OpKind::kBackward || op.kind == OpKind::kForward || op.kind == OpKind::kCopy) continue;
      for (const Slice& slice : {op.from, op.into}) {
        if (slice.buffer.valid()) CHECK(plan.buffer(slice.buffer).role != Buffer::Role::kGradient);
      }
    }
  }
}

TEST_CASE("a strategy that cannot train is refused with its reason, and so is an unknown name") {
  std::string trainers;
  for (const Strategy& strategy : strategies()) {
    if (strategy.cannot_train.empty())
      trainers += fmt::format("{}{}", trainers.empty() ? "" : ", ", strategy.name);
  }
  for (const Strategy& strategy : strategies()) {
    if (strategy.cannot_train.empty()) continue;
    const auto refused = layout_of({2, 1, std::string(strategy.name)});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().text == fmt::format("strategy: '{}' cannot train: {}; try one of {}", strategy.name,
                                              strategy.cannot_train, trainers));
  }
  const auto unknown = layout_of({2, 1, "rings"});
  REQUIRE_FALSE(unknown);
  CHECK_THAT(unknown.error().text,
             has_text("strategy: unknown strategy 'rings'; expected one of unified, ring, "));
  const auto nccl = layout_of({2, 0, "bytescheduler", "auto", R"({"collective": "nccl"})"});
  REQUIRE_FALSE(nccl);
  CHECK_THAT(nccl.error().text, has_text("collective 'nccl' needs one order on all machines"));
}

}  // namespace
}  // namespace weir::real
