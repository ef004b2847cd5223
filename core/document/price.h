// The price of a machine as topologies state it: "$4.20/h". Nothing converts currencies, so only prices of
// the same currency can be compared.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/document/fields.h"

namespace weir {

/// An amount of money an hour. A value.
class Price {
 public:
  Price() = default;
  explicit Price(std::int64_t millionths, std::string currency = "")
      : millionths_(millionths), currency_(std::move(currency)) {}

  std::int64_t millionths() const { return millionths_; }
  double an_hour() const { return static_cast<double>(millionths_) * 1e-6; }
  /// "$", "EUR", or empty.
  const std::string& currency() const { return currency_; }
  friend bool operator==(const Price&, const Price&) = default;

 private:
  std::int64_t millionths_ = 0;
  std::string currency_;
};

/// Reads "$4.20/h", "EUR 4.20/h" or "4.20/h". Rounds to millionths.
Result<Price> parse_price(std::string_view text);

/// The shortest text that parses back to the price: "$4.2/h".
std::string text(const Price& price);

/// "$4.2", "EUR 4.2": the currency before the digits, spaced as in a price.
std::string money(std::string_view currency, std::string_view digits);

template <>
struct UnitText<Price> {
  static constexpr bool kHas = true;
  static constexpr std::string_view kExpected = "a price such as '$4.20/h'";
  static constexpr Limits kLimits = {.most = 1e12};  // a million an hour
  static std::int64_t count(const Price& price) { return price.millionths(); }
  static Result<Price> parse(std::string_view text) { return parse_price(text); }
  static std::string pattern();
};

}  // namespace weir
