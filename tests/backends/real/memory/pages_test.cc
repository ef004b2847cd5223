#include "backends/real/memory/pages.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/catch.h"

namespace weir::real {
namespace {

using namespace weir::literals;

PageWishes usual() { return {.pages = PageWishes::Size::kUsual}; }

// Whether the system has allocated all pages.
bool all_there(const Pages& pages) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const auto size = static_cast<std::size_t>(pages.size().count());
  std::vector<unsigned char> there((size + page - 1) / page);
  REQUIRE(mincore(pages.data(), size, there.data()) == 0);
  return std::all_of(there.begin(), there.end(), [](unsigned char one) { return (one & 1) != 0; });
}

TEST_CASE("pages are aligned, zero, allocated before they are used, and writable to the last byte") {
  for (const Bytes size : {1_B, 4095_B, 4096_B, 4097_B, 5_MiB}) {
    for (const PageWishes& wishes : {PageWishes(), usual()}) {
      INFO(size.count());
      auto pages = Pages::make(size, wishes);
      REQUIRE(pages.has_value());
      std::byte* data = (*pages)->data();
      CHECK(reinterpret_cast<std::uintptr_t>(data) % 4096 == 0);
      CHECK((*pages)->size() == size);
      CHECK(all_there(**pages));
      CHECK(std::all_of(data, data + size.count(), [](std::byte byte) { return byte == std::byte{0}; }));
      data[size.count() - 1] = std::byte{1};
      CHECK_FALSE((*pages)->descriptor().has_value());
      CHECK_FALSE((*pages)->numa().has_value());
    }
  }
}

TEST_CASE("huge pages are counted, and only used on request") {
  const auto huge = Pages::make(8_MiB);
  const auto neighbour = Pages::make(8_MiB);
  const auto small = Pages::make(8_MiB, usual());
  REQUIRE((huge && neighbour && small));
  CHECK(reinterpret_cast<std::uintptr_t>((*huge)->data()) % (2 << 20) == 0);
  CHECK((*huge)->huge() <= 8_MiB);  // the system may have none left, or refuse them
  CHECK((*neighbour)->huge() <= 8_MiB);
  CHECK((*small)->huge() == 0_B);
}

TEST_CASE("pages of a NUMA node report whether the system accepted the wish") {
  const auto pages = Pages::make(1_MiB, {.numa = 0});
  REQUIRE(pages.has_value());
  CHECK((*pages)->numa().value_or(0) == 0);
}

TEST_CASE("a process reads what another one writes into shared pages") {
  auto pages = Pages::make_shared(3_MiB, "weir test");
  REQUIRE(pages.has_value());
  REQUIRE((*pages)->descriptor().has_value());
  CHECK(all_there(**pages));
  const pid_t child = fork();
  if (child == 0) {
    const auto mapped = Pages::map_shared(*(*pages)->descriptor(), 3_MiB);
    const bool same = mapped && (*mapped)->size() == 3_MiB;
    if (same) (*mapped)->data()[(3 << 20) - 1] = std::byte{42};
    _exit(same ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK((*pages)->data()[(3 << 20) - 1] == std::byte{42});
}

TEST_CASE("shared pages outlive the object that made them while a process maps them") {
  auto pages = Pages::make_shared(4_KiB, "weir test", usual());
  REQUIRE(pages.has_value());
  (*pages)->data()[0] = std::byte{7};
  const auto mapped = Pages::map_shared(*(*pages)->descriptor(), 4_KiB);
  REQUIRE(mapped.has_value());
  CHECK_THAT(Pages::map_shared(*(*pages)->descriptor(), 8_KiB).error().text,
             has_text("has 4096 bytes, not 8192"));
  pages->reset();
  CHECK((*mapped)->data()[0] == std::byte{7});
}

TEST_CASE("a request for more memory than the machine has is an error and kills no process") {
  for (const Bytes size : {100'000_GB, Bytes(INT64_MAX), 0_B, Bytes(-1)}) {
    INFO(size.count());
    CHECK_FALSE(Pages::make(size).has_value());
    CHECK_FALSE(Pages::make_shared(size, "weir test").has_value());
  }
  CHECK_THAT(Pages::make(100'000_GB).error().text, has_text("of memory left, not 100 TB"));
  CHECK_THAT(Pages::make(0_B).error().text, has_text("expected at least 1B of memory"));
  CHECK_THAT(Pages::make(4_KiB, {.numa = 4711}).error().text, has_text("no NUMA node 4711; try 0"));
  CHECK_THAT(Pages::map_shared(-1, 4_KiB).error().text, has_text("is not shared memory"));
}

}  // namespace
}  // namespace weir::real
