#include "core/document/price.h"

#include "tests/catch.h"

namespace weir {
namespace {

TEST_CASE("a price is an amount an hour, with or without a currency before it") {
  CHECK(parse_price("$4.20/h").value() == Price(4'200'000, "$"));
  CHECK(parse_price("EUR 25/h").value() == Price(25'000'000, "EUR"));
  CHECK(parse_price("\u20ac0.000001/h").value() == Price(1, "\u20ac"));
  CHECK(parse_price("0/h").value() == Price(0));
}

TEST_CASE("a written price reads back as the same price") {
  for (const char* written : {"$4.2/h", "EUR 25/h", "\u20ac0.000001/h", "0/h", "US$ 1000000/h"}) {
    INFO(written);
    const Price price = parse_price(written).value();
    CHECK(parse_price(text(price)).value() == price);
  }
  CHECK(text(Price(4'200'000, "$")) == "$4.2/h");
  CHECK(text(Price(25'000'000, "EUR")) == "EUR 25/h");
}

TEST_CASE("the error for a wrong price suggests a right one") {
  const auto error = [](const char* wrong) { return parse_price(wrong).error().text; };
  CHECK(error("$4.20") == "'$4.20' is not a price; try $4.20/h");
  for (const char* wrong : {"", "/h", "$/h", "-4/h", "$1,000/h", "4./h", ".4/h", "1e3/h", "4 $/h", "nan/h",
                            "4/d", "1234567890123456789/h", "dollars and cents 4/h"}) {
    INFO(wrong);
    REQUIRE_FALSE(parse_price(wrong).has_value());
    CHECK(error(wrong).find("is not a price; try $4.20/h") != std::string::npos);
  }
}

}  // namespace
}  // namespace weir
