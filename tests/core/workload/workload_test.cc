#include "core/workload/workload.h"

#include "tests/catch.h"
#include "tests/property/random_case.h"

namespace weir {
namespace {

using namespace weir::literals;

Trace trace_of(std::vector<std::vector<Tensor>> layers) {
  Trace trace;
  trace.name = "by hand";
  for (auto& tensors : layers) {
    trace.layers.push_back({fmt::format("{}", trace.layers.size()), 1_ms, 2_ms, std::move(tensors)});
  }
  return trace;
}

TEST_CASE("gradients are laid out in the order in which they become ready, the last layer first") {
  const Trace trace =
      trace_of({{{"a", 10, Dtype::kF32}}, {}, {{"b", 5, Dtype::kF32}, {"c", 1, Dtype::kF32}}});
  const Workload workload(trace);
  CHECK(workload.size() == 64_B);
  CHECK(workload.range(2) == Range{0_B, 24_B});
  CHECK(workload.range(1).size == 0_B);
  CHECK(workload.range(0) == Range{24_B, 40_B});
}

TEST_CASE("tensors of a layer that share a dtype are cut as one") {
  const Trace trace =
      trace_of({{{"weight", 100, Dtype::kF32}, {"bias", 1, Dtype::kF32}, {"c", 2, Dtype::kF16}},
                {{"d", 1, Dtype::kF16}}});
  const std::vector<Part> parts = Workload(trace).partition(404_B);
  REQUIRE(parts.size() == 3);
  CHECK(parts[0].first_layer == 1);
  CHECK(parts[1].range == Range{4_B, 404_B});
  CHECK(parts[2].range.offset == 408_B);
}

TEST_CASE("tensors are cut into the fewest parts, equal to within an element") {
  const Trace trace = trace_of({{{"a", 10, Dtype::kF32}}, {{"b", 3, Dtype::kF64}}});
  const std::vector<Part> parts = Workload(trace).partition(16_B);
  REQUIRE(parts.size() == 5);
  CHECK(parts[0].range == Range{0_B, 8_B});
  CHECK(parts[0].dtype == Dtype::kF64);
  CHECK(parts[1].range == Range{8_B, 16_B});
  CHECK(parts[0].first_layer == 1);
  CHECK(parts[2].range == Range{24_B, 12_B});
  CHECK(parts[3].range == Range{36_B, 12_B});
  CHECK(parts[4].range == Range{48_B, 16_B});
  CHECK(parts[4].last_layer == 0);
}

TEST_CASE("no part is smaller than an element, however small parts should be") {
  const Trace trace = trace_of({{{"a", 3, Dtype::kF64}}});
  CHECK(Workload(trace).partition(1_B).size() == 3);
  CHECK(Workload(trace).fuse(1_B).size() == 3);
}

TEST_CASE("neighbours of one dtype are fused into buckets") {
  const Trace trace = trace_of({{{"a", 4, Dtype::kF32}}, {{"b", 4, Dtype::kF32}}, {{"c", 4, Dtype::kF16}}});
  const std::vector<Part> buckets = Workload(trace).fuse(32_B);
  REQUIRE(buckets.size() == 2);
  CHECK(buckets[0].dtype == Dtype::kF16);
  CHECK(buckets[1].range == Range{8_B, 32_B});
  CHECK(buckets[1].first_layer == 0);
  CHECK(buckets[1].last_layer == 1);
}

// The forward pass would read bytes between tensors, but nobody would sum them.
TEST_CASE("parts and buckets cover every byte of the buffer once, whatever the dtypes") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    const property::Case random = property::random_case(seed);
    const Workload workload(random.trace);
    for (const auto& parts :
         {workload.partition(random.options.partition_size), workload.fuse(random.options.fusion_size)}) {
      Bytes end;
      for (const Part& part : parts) {
        CHECK(part.range.offset == end);
        CHECK(part.range.offset.count() % size(part.dtype).count() == 0);
        CHECK(part.range.size.count() % size(part.dtype).count() == 0);
        CHECK(part.range.size > 0_B);
        CHECK(part.first_layer <= part.last_layer);
        end = part.range.end();
      }
      CHECK(end == workload.size());
    }
    Bytes end;
    for (int layer = workload.layers() - 1; layer >= 0; --layer) {
      if (workload.range(layer).size == 0_B) continue;
      CHECK(workload.range(layer).offset == end);
      end = workload.range(layer).end();
    }
    CHECK(end == workload.size());
  }
}

TEST_CASE("shares cover the range, end between elements and are equal to within an element") {
  const Range range{8_B, 44_B};
  Bytes end = range.offset;
  for (int i = 0; i < 4; ++i) {
    const Range part = share(range, Dtype::kF32, i, 4);
    CHECK(part.offset == end);
    CHECK((part.size == 8_B || part.size == 12_B));
    end = part.end();
  }
  CHECK(end == range.end());
}

TEST_CASE("if there are fewer elements than shares, some shares are empty") {
  Bytes total;
  for (int i = 0; i < 8; ++i) total += share({0_B, 12_B}, Dtype::kF32, i, 8).size;
  CHECK(total == 12_B);
}

}  // namespace
}  // namespace weir
