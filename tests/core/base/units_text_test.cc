#include "core/base/units_text.h"

#include <random>

#include "tests/catch.h"

namespace weir {
namespace {

using namespace weir::literals;

std::int64_t rate(std::string_view text) { return parse_rate(text).value().value(); }
std::int64_t size_of(std::string_view text) { return parse_size(text).value().count(); }
std::int64_t duration(std::string_view text) { return parse_duration(text).value().ns(); }

TEST_CASE("rates are read in bits with bps and in bytes with B/s") {
  CHECK(rate("100Gbps") == 12'500'000'000);
  CHECK(rate("12.5GB/s") == 12'500'000'000);
  CHECK(rate("10GiB/s") == 10'737'418'240);
  CHECK(rate("218.7Gbps") == 27'337'500'000);
  CHECK(rate("1.2Tbps") == 150'000'000'000);
  CHECK(rate("8kbps") == 1000);
  CHECK(rate("3 MB/s") == 3'000'000);
  CHECK_FALSE(parse_rate("unlimited").value().limited());
}

TEST_CASE("rates are rounded to whole bytes per second") {
  CHECK(rate("12bps") == 2);
  CHECK(rate("0.3333333333Gbps") == 41'666'667);
}

TEST_CASE("sizes are decimal with MB and binary with MiB") {
  CHECK(size_of("512B") == 512);
  CHECK(size_of("4MB") == 4'000'000);
  CHECK(size_of("4MiB") == 4'194'304);
  CHECK(size_of("1.5KiB") == 1536);
  CHECK(size_of("0B") == 0);
  CHECK(size_of("9223372036854775806B") == 9'223'372'036'854'775'806);
}

TEST_CASE("durations are read in whole nanoseconds") {
  CHECK(duration("711000ns") == 711'000);
  CHECK(duration("5us") == 5'000);
  CHECK(duration("1.5ms") == 1'500'000);
  CHECK(duration("2s") == 2'000'000'000);
  CHECK(duration("0.001us") == 1);
}

TEST_CASE("the error for a wrong quantity suggests a right one") {
  CHECK(parse_rate("100Gb").error().text == "'100Gb' is not a rate; try 100Gbps");
  CHECK(parse_rate("100").error().text == "'100' is not a rate; try 100Gbps");
  CHECK(parse_rate("12.5GB").error().text == "'12.5GB' is not a rate; try 12.5GB/s");
  CHECK(parse_rate("10gbps").error().text == "'10gbps' is not a rate; try 10Gbps");
  CHECK(parse_rate("fast").error().text == "'fast' is not a rate; try 100Gbps");
  CHECK(parse_rate("").error().text == "'' is not a rate; try 100Gbps");
  CHECK(parse_rate("-1Gbps").error().text == "'-1Gbps' is not a rate; try 100Gbps");
  CHECK(parse_rate("1.Gbps").error().text == "'1.Gbps' is not a rate; try 100Gbps");
  CHECK(parse_rate("10tbps").error().text == "'10tbps' is not a rate; try 10Tbps");
  CHECK(parse_size("4mb").error().text == "'4mb' is not a size; try 4MB");
  CHECK(parse_size("4M").error().text == "'4M' is not a size; try 4MB");
  CHECK(parse_size("unlimited").error().text == "'unlimited' is not a size; try 4MiB");
  CHECK(parse_duration("5").error().text == "'5' is not a duration; try 5us");
  CHECK(parse_duration("5 sec").error().text == "'5 sec' is not a duration; try 5s");
}

TEST_CASE("the error for a unit that is like none lists the units") {
  const std::string sizes = "expected one of MB, MiB, GB, GiB, KB, KiB, TB, TiB, B";
  CHECK(parse_size("1EB").error().text == "'1EB' is not a size: unknown unit 'EB'; " + sizes);
  CHECK(parse_size("2PiB").error().text == "'2PiB' is not a size: unknown unit 'PiB'; " + sizes);
  CHECK(parse_duration("5 minutes").error().text ==
        "'5 minutes' is not a duration: unknown unit 'minutes'; expected one of us, ms, s, ns");
  CHECK_THAT(parse_rate("1e3Gbps").error().text,
             has_text("'1e3Gbps' is not a rate: unknown unit 'e3Gbps'; "));
}

TEST_CASE("a quantity that no integer can hold is an error") {
  CHECK(parse_rate("0Gbps").error().text == "'0Gbps' is not a rate: nothing would ever arrive; try 100Gbps");
  CHECK(parse_rate("100000000Tbps").error().text == "'100000000Tbps' is too large for a rate; try unlimited");
  CHECK(parse_size("1.5B").error().text == "'1.5B' is not a whole number of bytes; round it");
  CHECK(parse_size("9999999TiB").error().text == "'9999999TiB' is too large for a size");
  CHECK(parse_duration("0.5ns").error().text == "'0.5ns' is not a whole number of nanoseconds; round it");
}

TEST_CASE("the exact text is the shortest") {
  CHECK(text(100_Gbps) == "100Gbps");
  CHECK(text(BytesPerSecond(27'337'500'000)) == "218.7Gbps");
  CHECK(text(BytesPerSecond(55'400'000'000)) == "55.4GB/s");
  CHECK(text(BytesPerSecond(10'737'418'240)) == "10GiB/s");
  CHECK(text(BytesPerSecond::unlimited()) == "unlimited");
  CHECK(text(4_MiB) == "4MiB");
  CHECK(text(4_MB) == "4MB");
  CHECK(text(Bytes(4'096'000)) == "4096KB");
  CHECK(text(0_B) == "0B");
  CHECK(text(Duration(711'000)) == "711us");
  CHECK(text(Duration(1'500'000)) == "1.5ms");
  CHECK(text(Duration(0)) == "0s");
  CHECK(text(Duration(-5'000)) == "-5us");
}

TEST_CASE("the exact text parses back to the value") {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20'000; ++i) {
    // Values of all magnitudes, half of them round.
    auto value = static_cast<std::int64_t>(random() >> (1 + random() % 63));
    if (i % 2 == 0) {
      while (value > 1000) value /= 10;
      for (auto zeros = random() % 13; zeros > 0; --zeros) value *= 10;
    }
    INFO(value);
    CHECK(size_of(text(Bytes(value))) == value);
    CHECK(duration(text(Duration(value))) == value);
    CHECK(rate(text(BytesPerSecond(value + 1))) == value + 1);
  }
}

TEST_CASE("the rounded text has four digits and the unit that fits") {
  CHECK(rounded(Duration(88'912'345)) == "88.91 ms");
  CHECK(rounded(Duration(88'900'000)) == "88.9 ms");
  CHECK(rounded(Duration(1'273'449'000)) == "1.273 s");
  CHECK(rounded(Duration(999'960)) == "1 ms");
  CHECK(rounded(Duration(712)) == "712 ns");
  CHECK(rounded(Duration(0)) == "0 s");
  CHECK(rounded(Duration(-2'500)) == "-2.5 us");
  CHECK(rounded(90_Gbps) == "90 Gbps");
  CHECK(rounded(BytesPerSecond::unlimited()) == "unlimited");
  CHECK(rounded_in_bytes(BytesPerSecond(11'234'000'000)) == "11.23 GB/s");
  CHECK(rounded(Bytes(4'096'000)) == "4.096 MB");
  CHECK(rounded(Bytes(12'345'678)) == "12.35 MB");
  CHECK(rounded(2684_MB) == "2.684 GB");
}

}  // namespace
}  // namespace weir
