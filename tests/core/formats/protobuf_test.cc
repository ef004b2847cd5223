#include "core/formats/chakra/protobuf.h"

#include "tests/catch.h"

namespace weir::protobuf {
namespace {

using namespace std::string_view_literals;

// The only field of the message.
Field only(std::string_view message) {
  Reader reader(message);
  const auto field = reader.next();
  REQUIRE(field);
  REQUIRE(field->has_value());
  const auto end = reader.next();
  REQUIRE(end);
  CHECK_FALSE(end->has_value());
  return **field;
}

std::string broken(std::string_view message) {
  Reader reader(message);
  const auto field = reader.next();
  REQUIRE_FALSE(field);
  return field.error().text;
}

TEST_CASE("fields of every wire type are read as in the examples of the specification") {
  const Field varint = only("\x08\x96\x01"sv);
  CHECK(varint.number == 1);
  CHECK(varint.value == 150);
  const Field text = only("\x12\x07testing"sv);
  CHECK(text.number == 2);
  CHECK(text.bytes == "testing");
  CHECK(only("\x0d\x01\x02\x03\x04"sv).value == 0x04030201);
  CHECK(only("\x09\x01\x02\x03\x04\x05\x06\x07\xff"sv).value == 0xff07060504030201);
  CHECK(only("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv).value == ~std::uint64_t{0});
}

TEST_CASE("messages that are cut short or malformed are errors") {
  CHECK(broken("\x08\x96"sv) == "a number is cut short");
  CHECK(broken("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv) == "a number is longer than 10 bytes");
  CHECK(broken("\x12\x07test"sv) == "a field of 7 bytes is cut short: only 4 exist");
  CHECK(broken("\x0d\x01\x02"sv) == "a field of 4 bytes is cut short: only 2 exist");
  CHECK(broken("\x00\x01"sv) == "0 is not a valid field number");
  CHECK(broken("\x0b"sv) == "field 1 has the wire type 3, which does not exist");
}

TEST_CASE("repeated numbers are read, whether packed or one by one") {
  std::vector<std::uint64_t> list;
  REQUIRE(append_varints(only("\x22\x06\x03\x8e\x02\x9e\xa7\x05"sv), list));
  REQUIRE(append_varints(only("\x20\x05"sv), list));
  CHECK(list == std::vector<std::uint64_t>{3, 270, 86942, 5});
  CHECK_FALSE(append_varints(only("\x22\x01\x8e"sv), list));
  CHECK_FALSE(append_varints(only("\x25\x01\x02\x03\x04"sv), list));
}

TEST_CASE("signed numbers in zigzag alternate around zero") {
  CHECK(unzigzag(0) == 0);
  CHECK(unzigzag(1) == -1);
  CHECK(unzigzag(2) == 1);
  CHECK(unzigzag(~std::uint64_t{0}) == std::numeric_limits<std::int64_t>::min());
}

}  // namespace
}  // namespace weir::protobuf
