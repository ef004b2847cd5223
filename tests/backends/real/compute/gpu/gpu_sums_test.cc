// Compares sums in GPU memory, by kernels and by collectives, with sums in double precision.
#include <cmath>
#include <cstring>

#include "backends/real/compute/gpu/gpu_engine.h"
#include "backends/real/compute/workers.h"
#include "tests/backends/real/oracle.h"
#include "tests/catch.h"

namespace weir::real {
namespace {

constexpr Duration kPatience{30'000'000'000};

// Runs the ops of one machine, one after another.
class Bench {
 public:
  Bench(Plan plan, std::unique_ptr<Gpus> gpus) : plan_(std::move(plan)), gpus_(std::move(gpus)) {
    buffers_ = std::move(Buffers::make(plan_, MachineId(0), gpus_.get()).value());
    if (!plan_.all_reduces().empty()) {
      const Clique::Member all{0, gpus_->count()};
      clique_ = std::move(Clique::meet(*gpus_, Clique::place().value(), all, kPatience, {}).value());
    }
    engine_ =
        std::move(GpuEngine::make(*gpus_, plan_, MachineId(0), *buffers_, inbox_, {}, clique_.get()).value());
  }

  Buffers& buffers() { return *buffers_; }

  void run(OpId op) {
    engine_->put(plan_.op(op), 0);
    std::vector<Event> events;
    for (int i = 0; i < 100 && events.empty(); ++i) {
      inbox_.wait(Duration(100'000'000));
      inbox_.take(events);
    }
    REQUIRE(events.size() == 1);
    INFO(events[0].text);
    REQUIRE(events[0].kind == Event::Kind::kDone);
    CHECK(events[0].started <= events[0].at);
  }

  std::vector<std::byte> read(const Extent& extent) {
    std::vector<std::byte> copy(static_cast<std::size_t>(extent.range.size.count()));
    REQUIRE(buffers_->load(extent, copy));
    return copy;
  }

 private:
  Plan plan_;
  std::unique_ptr<Gpus> gpus_;
  Inbox inbox_;
  std::unique_ptr<Buffers> buffers_;
  std::unique_ptr<Clique> clique_;
  std::unique_ptr<GpuEngine> engine_;
};

// Numbers for which a sum of eight has at most a rounding error. For integer types they are whole.
std::vector<std::byte> numbers(Dtype dtype, std::size_t elements, std::size_t seed) {
  const auto width = static_cast<std::size_t>(size(dtype).count());
  std::vector<std::byte> bytes(elements * width);
  for (std::size_t i = 0; i < elements; ++i) {
    const double value = static_cast<double>((i * 37 + seed * 101) % 1000) / 8.0 - 50.0;
    std::byte* const at = &bytes[i * width];
    const auto put = [&](auto number) { std::memcpy(at, &number, sizeof number); };
    switch (dtype) {
      case Dtype::kF16:
        put(oracle::narrowed(static_cast<float>(value), oracle::kF16));
        break;
      case Dtype::kBf16:
        put(oracle::narrowed(static_cast<float>(value), oracle::kBf16));
        break;
      case Dtype::kF32:
        put(static_cast<float>(value));
        break;
      case Dtype::kF64:
        put(value);
        break;
      case Dtype::kI32:
        put(static_cast<std::int32_t>(value));
        break;
      case Dtype::kI64:
        put(static_cast<std::int64_t>(value) * 1'000'000'007);
        break;
    }
  }
  return bytes;
}

double number(Dtype dtype, const std::byte* at) {
  switch (dtype) {
    case Dtype::kF16:
      return oracle::widened(oracle::element<std::uint16_t>(at), oracle::kF16);
    case Dtype::kBf16:
      return oracle::widened(oracle::element<std::uint16_t>(at), oracle::kBf16);
    case Dtype::kF32:
      return oracle::element<float>(at);
    case Dtype::kF64:
      return oracle::element<double>(at);
    case Dtype::kI32:
      return oracle::element<std::int32_t>(at);
    case Dtype::kI64:
      return static_cast<double>(oracle::element<std::int64_t>(at));
  }
  return 0;
}

// The allowed error of each addition, relative to its largest term.
double rounding(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF16:
      return 0x1.0p-11;
    case Dtype::kBf16:
      return 0x1.0p-8;
    case Dtype::kF32:
      return 0x1.0p-24;
    default:
      return 0x1.0p-52;
  }
}

constexpr Dtype kAll[] = {Dtype::kF16, Dtype::kBf16, Dtype::kF32, Dtype::kF64, Dtype::kI32, Dtype::kI64};

std::unique_ptr<Gpus> first_gpus(int count) {
  std::vector<int> devices(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) devices[static_cast<std::size_t>(i)] = i;
  return std::move(Gpus::open(devices).value());
}

Op op_of(OpKind kind, Dtype dtype) {
  Op op;
  op.machine = MachineId(0);
  op.kind = kind;
  op.dtype = dtype;
  return op;
}

void check_close(Dtype dtype, std::span<const std::byte> found,
                 const std::vector<std::vector<std::byte>>& terms, std::size_t offset) {
  const auto width = static_cast<std::size_t>(size(dtype).count());
  std::size_t wrong = 0;
  for (std::size_t at = 0; at < found.size(); at += width) {
    double sum = 0;
    for (const auto& term : terms) sum += number(dtype, &term[offset + at]);
    const double off = std::abs(number(dtype, &found[at]) - sum);
    wrong += off <= rounding(dtype) * 100.0 * static_cast<double>(terms.size()) * 4 ? 0U : 1U;
  }
  INFO(name(dtype));
  CHECK(wrong == 0);
}

TEST_CASE("a sum on a GPU equals that of a plain loop, bit for bit", "[gpu]") {
  for (const Dtype dtype : kAll) {
    for (const std::size_t elements : {std::size_t{1}, std::size_t{1023}, std::size_t{1} << 20}) {
      const Bytes bytes = size(dtype) * static_cast<std::int64_t>(elements);
      PlanBuilder builder("sum", 1);
      const BufferId into =
          builder.add({MachineId(0), Buffer::Role::kScratch, Memory::Kind::kGpu, 0, 1, bytes});
      const BufferId from =
          builder.add({MachineId(0), Buffer::Role::kScratch, Memory::Kind::kGpu, 0, 1, bytes});
      Op op = op_of(OpKind::kSum, dtype);
      op.into = {into, 0, Bytes(0), bytes};
      op.from = {from, 0, Bytes(0), bytes};
      const OpId sum = builder.add(op);
      Bench bench(std::move(builder).build(), first_gpus(1));
      const auto a = numbers(dtype, elements, 1);
      const auto b = numbers(dtype, elements, 2);
      const Range whole = {Bytes(0), bytes};
      REQUIRE(bench.buffers().store(a, {into, 0, whole}));
      REQUIRE(bench.buffers().store(b, {from, 0, whole}));
      bench.run(sum);
      std::vector<std::byte> expected = a;
      const std::byte* const terms[] = {a.data(), b.data()};
      oracle::sum(dtype, expected.data(), terms, expected.size());
      INFO(name(dtype) << ", " << elements << " elements");
      CHECK(bench.read({into, 0, whole}) == expected);
    }
  }
}

// Checks a reduction of each GPU's numbers, whose sum is left in shares or on one GPU.
void check_reduction(int count, Dtype dtype, std::size_t elements, OpKind kind) {
  const Bytes bytes = size(dtype) * static_cast<std::int64_t>(elements);
  PlanBuilder builder("reduction", 1);
  const BufferId buffer =
      builder.add({MachineId(0), Buffer::Role::kGradient, Memory::Kind::kGpu, 0, count, bytes});
  const bool shares = kind == OpKind::kReduceScatter;
  const int root = count - 1;
  const auto add = [&](OpKind which) {
    Op op = op_of(which, dtype);
    op.into = {buffer, Replicas::each(builder.all(buffer)), Bytes(0), bytes};
    op.root = root;
    return builder.add(op);
  };
  const OpId out = add(kind);
  const OpId in = add(shares ? OpKind::kAllGather : OpKind::kBroadcast);
  Bench bench(std::move(builder).build(), first_gpus(count));
  const Range whole = {Bytes(0), bytes};
  std::vector<std::vector<std::byte>> terms;
  for (int gpu = 0; gpu < count; ++gpu) {
    terms.push_back(numbers(dtype, elements, static_cast<std::size_t>(gpu)));
    REQUIRE(bench.buffers().store(terms.back(), {buffer, gpu, whole}));
  }
  INFO(count << " GPUs, " << elements << " elements, " << name(kind));
  bench.run(out);
  for (int gpu = 0; gpu < count; ++gpu) {
    if (!shares && gpu != root) continue;
    const Range held = shares ? share(whole, dtype, gpu, count) : whole;
    check_close(dtype, bench.read({buffer, gpu, held}), terms, static_cast<std::size_t>(held.offset.count()));
  }
  bench.run(in);
  const auto first = bench.read({buffer, 0, whole});
  check_close(dtype, first, terms, 0);
  for (int gpu = 1; gpu < count; ++gpu) CHECK(bench.read({buffer, gpu, whole}) == first);
}

TEST_CASE("collectives leave the sum of all GPUs where the plan says, and the same bits everywhere",
          "[gpu]") {
  const auto count = gpu_count();
  REQUIRE(count);
  if (*count < 2) {
    WARN("this host has one GPU: collectives were not tested");
    return;
  }
  for (int gpus = 2; gpus <= *count; ++gpus) {
    for (const Dtype dtype : kAll) {
      for (const std::size_t elements : {std::size_t{1}, std::size_t{4} * 1025, std::size_t{1} << 20}) {
        for (const OpKind kind : {OpKind::kReduceScatter, OpKind::kReduce})
          check_reduction(gpus, dtype, elements, kind);
      }
    }
  }
}

TEST_CASE("an all-reduce over the GPUs of all machines leaves the same sum on each, bit for bit", "[gpu]") {
  const auto count = gpu_count();
  REQUIRE(count);
  for (int gpus = 1; gpus <= *count; ++gpus) {
    for (const Dtype dtype : kAll) {
      constexpr std::size_t kElements = std::size_t{4} * 1025;
      const Bytes bytes = size(dtype) * static_cast<std::int64_t>(kElements);
      PlanBuilder builder("all-reduce", 1);
      const BufferId buffer =
          builder.add({MachineId(0), Buffer::Role::kGradient, Memory::Kind::kGpu, 0, gpus, bytes});
      Op op = op_of(OpKind::kAllReduce, dtype);
      op.into = {buffer, Replicas::each(builder.all(buffer)), Bytes(0), bytes};
      op.all_reduce = builder.add_all_reduce();
      const OpId reduce = builder.add(op);
      Bench bench(std::move(builder).build(), first_gpus(gpus));
      const Range whole = {Bytes(0), bytes};
      std::vector<std::vector<std::byte>> terms;
      for (int gpu = 0; gpu < gpus; ++gpu) {
        terms.push_back(numbers(dtype, kElements, static_cast<std::size_t>(gpu)));
        REQUIRE(bench.buffers().store(terms.back(), {buffer, gpu, whole}));
      }
      bench.run(reduce);
      const auto first = bench.read({buffer, 0, whole});
      check_close(dtype, first, terms, 0);
      for (int gpu = 1; gpu < gpus; ++gpu) CHECK(bench.read({buffer, gpu, whole}) == first);
    }
  }
}

TEST_CASE("GPUs that wait for missing GPUs fail in time, or when the watch fails", "[gpu]") {
  const auto gpus = first_gpus(1);
  const Clique::Member first{0, 2};
  const auto late = Clique::meet(*gpus, Clique::place().value(), first, Duration(2'000'000'000), {});
  REQUIRE_FALSE(late);
  CHECK_THAT(late.error().text, has_text("connecting the GPUs of all machines: NCCL did not finish in time"));
  const auto watched = [] { return Result<void>(failure("somebody is gone")); };
  const auto gone = Clique::meet(*gpus, Clique::place().value(), first, kPatience, watched);
  REQUIRE_FALSE(gone);
  CHECK(gone.error().text == "somebody is gone");
  const auto nowhere = Clique::meet(*gpus, "00ff", first, kPatience, {});
  REQUIRE_FALSE(nowhere);
  CHECK_THAT(nowhere.error().text, has_text("invalid NCCL rendezvous id"));
}

}  // namespace
}  // namespace weir::real
