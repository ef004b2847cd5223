#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>

#include "tests/catch.h"
#include "tests/conformance/echo.h"
#include "tests/conformance/port_conformance.h"
#include "tests/core/cluster/links.h"

namespace weir::conformance {
namespace {

using namespace weir::literals;

// Two machines. With three GPUs, shares have different sizes unless three divides the number of elements.
Cluster pair_of(int gpus) {
  std::string all = R"({"at": "p"})";
  for (int i = 1; i < gpus; ++i) all += R"(, {"at": "p"})";
  return cluster_of(R"({"name": "pair", "groups": [
    {"name": "gpu", "count": 2, "numa": [{"sum_rate": "1GB/s"}], "switches": [{"name": "p", "at": "numa0"}],
     "gpus": [)" + all +
                    R"(], "nics": [{"at": "p", "rate": "1GB/s"}]}]})");
}

Op op_on(std::size_t machine, OpKind kind, Dtype dtype) {
  Op op;
  op.machine = MachineId(machine);
  op.kind = kind;
  op.dtype = dtype;
  return op;
}

BufferId host_buffer(PlanBuilder& builder, std::size_t machine, Bytes size) {
  return builder.add({MachineId(machine), Buffer::Role::kScratch, Memory::Kind::kHost, 0, 1, size});
}

Record must(const World& world, const Trial& trial) {
  Result<Record> record = world.run(trial);
  INFO((record ? std::string() : record.error().text));
  REQUIRE(record);
  return std::move(*record);
}

std::byte pattern(std::size_t i) { return static_cast<std::byte>((i * 31 + i / 251) & 0xff); }

// To the other machine and back.
void check_echo(const World& world, const std::vector<Bytes>& sizes, Bytes window, int iterations) {
  const Echo echo(sizes);
  const BufferId memory(0);
  const std::size_t bytes = echo.half;
  const Bytes half(static_cast<std::int64_t>(bytes));
  Trial trial{*echo.plan, pair(), {{Policy::kPriority, window}, {}, iterations}};
  trial.fill = [&](const BytesOf& bytes_of) {
    const auto sent = bytes_of({memory, 0, {Bytes(0), half}});
    for (std::size_t i = 0; i < bytes; ++i) sent[i] = pattern(i);
  };
  trial.look = [&](const BytesOf& bytes_of) {
    const auto sent = bytes_of({memory, 0, {Bytes(0), half}});
    CHECK(std::memcmp(sent.data(), bytes_of({memory, 0, {half, half}}).data(), bytes) == 0);
  };
  std::map<OpId, int> ended;
  trial.observer = [&](const Op& op) { ++ended[op.id]; };
  must(world, trial);
  for (const MessageEnds& ends : echo.plan->messages()) CHECK(ended[ends.send] == iterations);
}

#ifdef __SANITIZE_THREAD__
constexpr Bytes kLarge = 1_MiB * 64;  // its own memory for 1 GiB takes longer than a machine may be silent
#else
constexpr Bytes kLarge = 1_MiB * 1024;
#endif

void check_large(const World& world, Bytes size) {
  if (world.room < size * 2) {
    WARN(world.name << " has no room for two buffers of " << size.count() << " bytes: nothing was tested");
    return;
  }
  PlanBuilder builder("large", 2);
  const BufferId here = host_buffer(builder, 0, size);
  const BufferId there = host_buffer(builder, 1, size);
  const auto [sent, received] = message(builder, 0, {here, 0, Bytes(0), size}, {there, 0, Bytes(0), size});
  const Plan plan = std::move(builder).build();
  Trial trial{plan, pair(), {{Policy::kPriority, 1_B}, {}, 1}};
  trial.fill = [&](const BytesOf& bytes_of) {
    const auto all = bytes_of({here, 0, {Bytes(0), size}});
    constexpr std::size_t kStride = 4099;
    for (std::size_t i = 0; i < all.size(); i += kStride) all[i] = static_cast<std::byte>(i / kStride + 1);
  };
  trial.look = [&](const BytesOf& bytes_of) {
    CHECK(std::memcmp(bytes_of({here, 0, {Bytes(0), size}}).data(),
                      bytes_of({there, 0, {Bytes(0), size}}).data(),
                      static_cast<std::size_t>(size.count())) == 0);
  };
  const Record record = must(world, trial);
  CHECK(record.of(sent, 0).completed > record.of(sent, 0).started);
  if (world.exact) CHECK(record.of(received, 0).completed - Instant() >= Duration(size.count()));
}

// Every kind of op on both machines, each after the one before: an all-reduce by reduction to one GPU, or by
// shares.
class EveryKind {
 public:
  EveryKind(int gpus, std::int64_t elements, bool sharded)
      : gpus_(gpus), root_(gpus / 2), size_(Bytes(elements * 4)), sharded_(sharded) {
    for (std::size_t m = 0; m < 2; ++m) {
      gradient_.push_back(
          builder_.add({MachineId(m), Buffer::Role::kGradient, Memory::Kind::kGpu, 0, gpus_, size_}));
      staging_.push_back(host_buffer(builder_, m, size_));
      landing_.push_back(host_buffer(builder_, m, size_));
    }
    for (std::size_t m = 0; m < 2; ++m) way_out(m);
    for (std::size_t m = 0; m < 2; ++m) exchange(m);
    for (std::size_t m = 0; m < 2; ++m) way_in(m);
  }

  void check(const World& world, Bytes window) const {
    const Plan plan = PlanBuilder(builder_).build();
    const Cluster cluster = pair_of(gpus_);
    Trial trial{plan, cluster, {{Policy::kFifo, window}, {}, 1}};
    std::set<OpKind> met;
    trial.observer = [&](const Op& op) { met.insert(op.kind); };
    trial.fill = [&](const BytesOf& bytes_of) { fill(bytes_of); };
    trial.look = [&](const BytesOf& bytes_of) { look(bytes_of); };
    const Record record = must(world, trial);
    for (const Op& op : plan.ops()) {
      // Worlds report what happens to bytes. They report a message once, as its send.
      if (op.kind != OpKind::kReceive && op.kind != OpKind::kJoin) CHECK(met.contains(op.kind));
      for (const Successor next : plan.successors(op.id)) {
        CHECK(record.of(op.id, 0).completed <= record.of(next.id(), 0).started);
      }
    }
  }

 private:
  // Adds the op after the previous op of the machine.
  void add(std::size_t machine, const Op& op) {
    const OpId id = builder_.add(op);
    builder_.order(last_[machine], id);
    last_[machine] = id;
  }

  Slice whole(BufferId buffer, Replicas on = {}) const { return {buffer, on, Bytes(0), size_}; }
  Replicas each(std::size_t m) { return Replicas::each(builder_.all(gradient_[m])); }
  Replicas copied(std::size_t m) {
    return sharded_ ? Replicas::shards(builder_.all(gradient_[m])) : Replicas(root_);
  }

  void collective(std::size_t m, OpKind kind) {
    Op op = op_on(m, kind, Dtype::kF32);
    op.into = whole(gradient_[m], each(m));
    op.root = root_;
    add(m, op);
  }

  void pause(std::size_t m, OpKind kind) {
    Op op = op_on(m, kind, Dtype::kF32);
    op.duration = 100_us;
    add(m, op);
  }

  void way_out(std::size_t m) {
    Op backward = op_on(m, OpKind::kBackward, Dtype::kF32);
    backward.into = whole(gradient_[m], each(m));
    backward.layer = 0;
    backward.duration = 100_us;
    add(m, backward);
    collective(m, sharded_ ? OpKind::kReduceScatter : OpKind::kReduce);
    Op copy = op_on(m, OpKind::kCopy, Dtype::kF32);
    copy.from = whole(gradient_[m], copied(m));
    copy.into = whole(staging_[m]);
    add(m, copy);
    pause(m, OpKind::kWait);
    pause(m, OpKind::kHold);
  }

  void exchange(std::size_t m) {
    const auto [sent, received] =
        message(builder_, m, whole(staging_[m]), whole(landing_[1 - m]), Dtype::kF32);
    sends_.push_back(sent);
    receives_.push_back(received);
    builder_.order(last_[m], sent);
  }

  void way_in(std::size_t m) {
    add(m, op_on(m, OpKind::kJoin, Dtype::kF32));
    builder_.order(sends_[m], last_[m]);
    builder_.order(receives_[1 - m], last_[m]);
    Op sum = op_on(m, OpKind::kSum, Dtype::kF32);
    sum.from = whole(landing_[m]);
    sum.into = whole(staging_[m]);
    add(m, sum);
    Op update = op_on(m, OpKind::kUpdate, Dtype::kF32);
    update.into = whole(staging_[m]);
    update.passes = 7;
    add(m, update);
    Op copy = op_on(m, OpKind::kCopy, Dtype::kF32);
    copy.from = whole(staging_[m]);
    copy.into = whole(gradient_[m], copied(m));
    add(m, copy);
    collective(m, sharded_ ? OpKind::kAllGather : OpKind::kBroadcast);
    Op forward = op_on(m, OpKind::kForward, Dtype::kF32);
    forward.from = whole(gradient_[m], each(m));
    forward.layer = 0;
    forward.duration = 100_us;
    add(m, forward);
  }

  static float value(std::size_t machine, int gpu, std::size_t i) {
    return static_cast<float>((machine * 7 + static_cast<std::size_t>(gpu) * 3 + i * 11) % 64);
  }

  void fill(const BytesOf& bytes_of) const {
    for (std::size_t m = 0; m < 2; ++m) {
      for (int gpu = 0; gpu < gpus_; ++gpu) {
        const auto bytes = bytes_of({gradient_[m], gpu, {Bytes(0), size_}});
        for (std::size_t i = 0; i * 4 < bytes.size(); ++i) {
          const float written = value(m, gpu, i);
          std::memcpy(&bytes[i * 4], &written, 4);
        }
      }
    }
  }

  void look(const BytesOf& bytes_of) const {
    for (std::size_t m = 0; m < 2; ++m) {
      for (int gpu = 0; gpu < gpus_; ++gpu) {
        const auto bytes = bytes_of({gradient_[m], gpu, {Bytes(0), size_}});
        std::size_t wrong = 0;
        for (std::size_t i = 0; i * 4 < bytes.size(); ++i) {
          float expected = 0;
          for (std::size_t machine = 0; machine < 2; ++machine) {
            for (int writer = 0; writer < gpus_; ++writer) expected += value(machine, writer, i);
          }
          float found = 0;
          std::memcpy(&found, &bytes[i * 4], 4);
          wrong += found == expected ? 0U : 1U;
        }
        INFO("machine " << m << ", GPU " << gpu);
        CHECK(wrong == 0);
      }
    }
  }

  int gpus_;  // of each machine
  int root_;
  Bytes size_;
  bool sharded_;
  PlanBuilder builder_{"every kind", 2};
  std::vector<BufferId> gradient_;  // by machine
  std::vector<BufferId> staging_;
  std::vector<BufferId> landing_;
  std::array<OpId, 2> last_;    // of each machine's ops
  std::vector<OpId> sends_;     // by the machine that sends
  std::vector<OpId> receives_;  // likewise
};

void check_kinds(const World& world) {
  for (const std::int64_t elements : {0, 1, 2, 1023, 1024, 1025, 1 << 20}) {
    for (const bool sharded : {false, true}) {
      INFO(world.name << ", " << elements << " elements, " << (sharded ? "by shares" : "by one GPU"));
      EveryKind(world.gpus, elements, sharded).check(world, elements == 1025 ? 1_B : 4_MB);
    }
  }
}

// All other messages wait for the last one, and there are more of them than any queue holds.
void check_crowd(const World& world) {
  constexpr int kMany = 600;
  const Bytes each = 1_B;
  PlanBuilder builder("crowd", 2);
  const BufferId here = host_buffer(builder, 0, each * (kMany + 1));
  const BufferId there = host_buffer(builder, 1, each * (kMany + 1));
  std::vector<std::pair<OpId, OpId>> all;
  for (int i = 0; i < kMany; ++i)
    all.push_back(message(builder, 1, {there, 0, each * i, each}, {here, 0, each * i, each}));
  const auto [out, word] = message(builder, 0, {here, 0, each * kMany, each}, {there, 0, each * kMany, each});
  builder.order(all.back().second, out);
  for (int i = 0; i + 1 < kMany; ++i) builder.order(word, all[static_cast<std::size_t>(i)].first);
  const Plan plan = std::move(builder).build();
  must(world, Trial{plan, pair(), {{Policy::kFifo, 1_MB}, {}, 2}});
}

// Each machine sends only after it has received, so neither ever sends.
void check_stuck(const World& world) {
  PlanBuilder builder("stuck", 2);
  std::vector<BufferId> memory = {host_buffer(builder, 0, 8_B), host_buffer(builder, 1, 8_B)};
  const auto [out, there] = message(builder, 0, {memory[0], 0, 0_B, 4_B}, {memory[1], 0, 0_B, 4_B});
  const auto [back, here] = message(builder, 1, {memory[1], 0, 4_B, 4_B}, {memory[0], 0, 4_B, 4_B});
  builder.order(here, out);
  builder.order(there, back);
  const Plan plan = std::move(builder).build();
  Trial trial{plan, pair(), {{Policy::kFifo, 1_MB}, {}, 1}};
  trial.patience = 500_ms;
  const Result<Record> record = world.run(trial);
  REQUIRE_FALSE(record);
  CHECK_THAT(record.error().text, has_text("receive"));
}

}  // namespace

void check_work(const World& world) {
  const std::vector<Bytes> sizes = {0_B,    1_B,    2_B,    3_B,       63_B,  64_B, 65_B,
                                    4095_B, 4096_B, 4097_B, 999'999_B, 4_MiB, 1_B,  0_B};
  SECTION("2: messages of all sizes arrive whole, at every window") {
    for (const Bytes window : {0_B, 1_B, 5000_B, 100_MB}) check_echo(world, sizes, window, 3);
  }
  SECTION("2: large messages in flight at once do not mix, round after round") {
    check_echo(world, {9_MiB, 1000_B, 20_MiB + 4_B, 9_MiB + 1_B, 2_B}, 100_MB, 3);
  }
  SECTION("2: a message may be as large as 1 GiB") { check_large(world, kLarge); }
  SECTION("2: messages may wait for the last of many") { check_crowd(world); }
  SECTION("ops of every kind do their work, one after the other") { check_kinds(world); }
  SECTION("1: a run that cannot end fails, and the error says what it waits for") { check_stuck(world); }
}

}  // namespace weir::conformance
