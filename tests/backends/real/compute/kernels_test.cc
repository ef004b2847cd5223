#include "backends/real/compute/kernels.h"

#include <fmt/format.h>
#include <hwy/highway.h>

#include <array>

#include "backends/real/meters/memory_loops.h"
#include "core/base/random.h"
#include "tests/backends/real/oracle.h"
#include "tests/catch.h"

namespace weir::real {
namespace {

constexpr std::array kDtypes = {Dtype::kF16, Dtype::kBf16, Dtype::kF32,
                                Dtype::kF64, Dtype::kI32,  Dtype::kI64};

using Memory = std::vector<std::byte>;

// Runs the test with each instruction set of this machine, including slower ones.
template <class Test>
void with_all_instructions(const Test& test) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
    INFO("instructions " << instructions());
    CHECK(instructions() == hwy::TargetName(target));
    test();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

// Random bits. As f32, half of the elements are below 1, and one in 256 is not finite.
Memory any_bits(std::size_t size, Random& random) {
  Memory memory(size);
  for (std::byte& byte : memory) byte = static_cast<std::byte>(random.next());
  return memory;
}

struct Case {
  Dtype dtype;
  std::size_t size;
  std::size_t sources;
  std::size_t shift;  // of each further operand from an aligned address
};

// Compares the kernels' sums, with and without the old content, with plain loops. Nothing beyond may be
// written.
void check_sums(const Case& one, Random& random) {
  INFO(name(one.dtype) << ", " << one.size << " bytes, " << one.sources << " sources, shift " << one.shift);
  std::vector<Memory> memories;
  std::vector<const std::byte*> sources;
  for (std::size_t i = 0; i < one.sources; ++i) {
    const std::size_t shift = one.shift * (i + 1) % 64;
    memories.push_back(any_bits(shift + one.size, random));
    sources.push_back(memories.back().data() + shift);
  }
  const Memory before = any_bits(one.shift + one.size + 64, random);
  const Bytes size(static_cast<std::int64_t>(one.size));
  const auto check = [&](const Memory& after, std::span<const std::byte* const> terms) {
    Memory expected = before;
    oracle::sum(one.dtype, expected.data() + one.shift, terms, one.size);
    CHECK(oracle::difference(one.dtype, after.data() + one.shift, expected.data() + one.shift, one.size) ==
          one.size);
    CHECK(std::equal(after.begin(), after.begin() + static_cast<std::ptrdiff_t>(one.shift), before.begin()));
    CHECK(std::equal(after.end() - 64, after.end(), before.end() - 64));
  };
  Memory added = before;
  add(one.dtype, added.data() + one.shift, sources, size);
  std::vector<const std::byte*> terms = sources;
  terms.insert(terms.begin(), before.data() + one.shift);
  check(added, terms);
  Memory summed = before;
  sum(one.dtype, summed.data() + one.shift, sources, size);
  check(summed, sources);
}

TEST_CASE("sums of any size and width are those of a plain loop, bit for bit") {
  Random random(1);
  with_all_instructions([&] {
    for (const Dtype dtype : kDtypes) {
      const auto element = static_cast<std::size_t>(size(dtype).count());
      for (const std::size_t sources : {1, 2, 3, 4, 8, 19}) {
        for (const std::size_t elements : {0, 1, 2, 3, 7, 31, 64, 65, 127, 333}) {
          check_sums({dtype, elements * element, sources, 0}, random);
        }
        for (const std::size_t bytes : {4096 - element, std::size_t{4096}, 4096 + element}) {
          check_sums({dtype, bytes, sources, 0}, random);
        }
      }
    }
  });
}

TEST_CASE("operands of a sum need no alignment, not even to their elements") {
  Random random(2);
  with_all_instructions([&] {
    for (const Dtype dtype : kDtypes) {
      const auto element = static_cast<std::size_t>(size(dtype).count());
      for (const std::size_t shift : {std::size_t{1}, std::size_t{3}, element, 8 + element, 64 - element}) {
        check_sums({dtype, 131 * element, 3, shift}, random);
      }
    }
  });
}

// The bits of one element of into = a + b.
template <class T>
T sum_of(Dtype dtype, T a, T b) {
  T into = a;
  const std::array sources = {reinterpret_cast<const std::byte*>(&b)};
  add(dtype, reinterpret_cast<std::byte*>(&into), sources, size(dtype));
  return into;
}

TEST_CASE("bf16 is rounded to nearest, ties to even") {
  using Bits = std::uint16_t;
  with_all_instructions([] {
    const auto plus = [](int a, int b) {
      return sum_of(Dtype::kBf16, static_cast<Bits>(a), static_cast<Bits>(b));
    };
    CHECK(plus(0x3F80, 0x3B80) == 0x3F80);  // 1 + 2^-8 is half-way; 1 is even
    CHECK(plus(0x3F81, 0x3B80) == 0x3F82);  // half-way again; the even neighbour is above
    CHECK(plus(0x3F80, 0x3B81) == 0x3F81);  // slightly more than half-way
    CHECK(plus(0x7F7F, 0x7F7F) == 0x7F80);  // twice the largest number is infinite
    CHECK(plus(0x7F7F, 0x7B00) == 0x7F80);  // so is half of its last bit more
    CHECK(plus(0x7F7F, 0x7A80) == 0x7F7F);  // but not a quarter
    CHECK(plus(0x0001, 0x0001) == 0x0002);  // denormals are added
    CHECK(plus(0x0001, 0x8001) == 0x0000);
    CHECK(plus(0x7F80, 0x3F80) == 0x7F80);
    CHECK(plus(0xFF80, 0x3F80) == 0xFF80);
    CHECK((plus(0x7F80, 0xFF80) & 0x7FFF) > 0x7F80);  // infinity minus infinity is NaN
    CHECK((plus(0x7F81, 0x3F80) & 0x7FFF) > 0x7F80);  // so is a sum with NaN
    CHECK(plus(0x8000, 0x8000) == 0x8000);
  });
}

TEST_CASE("f16 is rounded to nearest, ties to even") {
  using Bits = std::uint16_t;
  with_all_instructions([] {
    const auto plus = [](int a, int b) {
      return sum_of(Dtype::kF16, static_cast<Bits>(a), static_cast<Bits>(b));
    };
    CHECK(plus(0x3C00, 0x1000) == 0x3C00);  // 1 + 2^-11 is half-way; 1 is even
    CHECK(plus(0x3C01, 0x1000) == 0x3C02);
    CHECK(plus(0x3C00, 0x1001) == 0x3C01);
    CHECK(plus(0x7BFF, 0x4C00) == 0x7C00);  // 65504 + 16 is half-way to infinity
    CHECK(plus(0x7BFF, 0x4BFF) == 0x7BFF);
    CHECK(plus(0x0001, 0x0001) == 0x0002);
    CHECK(plus(0x03FF, 0x0001) == 0x0400);  // denormals add up to a normal number
    CHECK(plus(0x7C00, 0x3C00) == 0x7C00);
    CHECK((plus(0x7C00, 0xFC00) & 0x7FFF) > 0x7C00);
    CHECK((plus(0x7C01, 0x3C00) & 0x7FFF) > 0x7C00);
    CHECK(plus(0x8000, 0x8000) == 0x8000);
  });
}

TEST_CASE("the sum of any two f16 or bf16 numbers equals that of a plain loop") {
  Random random(3);
  constexpr std::size_t kAll = 1 << 16;
  std::vector<std::uint16_t> every(kAll);
  for (std::size_t i = 0; i < kAll; ++i) every[i] = static_cast<std::uint16_t>(i);
  const auto* all = reinterpret_cast<const std::byte*>(every.data());
  with_all_instructions([&] {
    for (const Dtype dtype : {Dtype::kF16, Dtype::kBf16}) {
      for (int round = 0; round < 4; ++round) {
        Memory into = any_bits(2 * kAll, random);
        Memory expected = into;
        if (round == 0) std::fill(into.begin(), into.end(), std::byte{0});
        if (round == 0) expected = into;
        oracle::sum(dtype, expected.data(), std::array<const std::byte*, 2>{expected.data(), all}, 2 * kAll);
        add(dtype, into.data(), std::array{all}, Bytes(2 * kAll));
        CHECK(oracle::difference(dtype, into.data(), expected.data(), 2 * kAll) == 2 * kAll);
      }
    }
  });
}

TEST_CASE("a sum of many is rounded once") {
  const std::uint16_t one = 0x3F80;   // 1
  const std::uint16_t tiny = 0x3B80;  // 2^-8, which is lost if added to 1 alone
  std::uint16_t into = one;
  const std::vector<const std::byte*> sources(8, reinterpret_cast<const std::byte*>(&tiny));
  add(Dtype::kBf16, reinterpret_cast<std::byte*>(&into), sources, Bytes(2));
  CHECK(into == 0x3F84);  // 1 + 8 x 2^-8
  for (int i = 0; i < 8; ++i)
    add(Dtype::kBf16, reinterpret_cast<std::byte*>(&into), {sources.data(), 1}, Bytes(2));
  CHECK(into == 0x3F84);  // added one by one, all are lost
}

TEST_CASE("integers wrap around") {
  CHECK(sum_of(Dtype::kI32, std::numeric_limits<std::int32_t>::max(), 1) ==
        std::numeric_limits<std::int32_t>::min());
  CHECK(sum_of(Dtype::kI64, std::numeric_limits<std::int64_t>::max(), std::int64_t{1}) ==
        std::numeric_limits<std::int64_t>::min());
}

TEST_CASE("sources may be the same, and without sources nothing is added") {
  CHECK(sum_of(Dtype::kF32, 1.5F, 2.0F) == 3.5F);
  float into = 1.0F;
  const float from = 2.0F;
  const auto* source = reinterpret_cast<const std::byte*>(&from);
  add(Dtype::kF32, reinterpret_cast<std::byte*>(&into), std::array{source, source}, Bytes(4));
  CHECK(into == 5.0F);
  add(Dtype::kF32, reinterpret_cast<std::byte*>(&into), {}, Bytes(4));
  CHECK(into == 5.0F);
  sum(Dtype::kF32, nullptr, std::array<const std::byte*, 1>{nullptr}, Bytes(0));
}

TEST_CASE("the loop that measures memory touches all of its operands") {
  std::vector<std::uint64_t> into(100, 1);
  const std::vector<std::uint64_t> a(100, 2);
  const std::vector<std::uint64_t> b(100, 4);
  const std::array sources = {reinterpret_cast<const std::byte*>(a.data()),
                              reinterpret_cast<const std::byte*>(b.data())};
  pass_memory(reinterpret_cast<std::byte*>(into.data()), sources, Bytes(800));
  CHECK(into == std::vector<std::uint64_t>(100, 7));
}

}  // namespace
}  // namespace weir::real
