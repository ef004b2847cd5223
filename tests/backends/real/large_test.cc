// Messages too large for one system call, for 32-bit sizes and for 32-bit offsets.
#include "tests/backends/real/trial.h"
#include "tests/catch.h"

namespace weir::real {
namespace {

using namespace weir::literals;

void check_everywhere(Bytes large) {
  for (const Wire* wire : wires_of_any_host()) {
    ThreadWorld::Settings settings;
    settings.choice = choice_of(wire->name);
    settings.channels = 2;
    check_large(large, settings);
  }
}

TEST_CASE("a message may be larger than what one system call moves") { check_everywhere(1_MiB * 3072); }

TEST_CASE("the size and place of a message may exceed 32 bits") { check_everywhere(5_GB); }

}  // namespace
}  // namespace weir::real
