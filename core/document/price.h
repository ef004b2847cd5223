// What a machine costs, as topologies say it: "$4.20/h". Nothing is converted, so prices compare only where
// their currencies are the same.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/document/fields.h"

namespace weir {

/// An amount an hour. A value.
class Price {
 public:
  Price() = default;
  explicit Price(std::int64_t millionths, std::string currency = "")
      : millionths_(millionths), currency_(std::move(currency)) {}

  std::int64_t millionths() const { return millionths_; }
  double an_hour() const { return static_cast<double>(millionths_) * 1e-6; }
  /// "$", "EUR", or nothing.
  const std::string& currency() const { return currency_; }
  friend bool operator==(const Price&, const Price&) = default;

 private:
  std::int64_t millionths_ = 0;
  std::string currency_;
};

/// "$4.20/h", "EUR 4.20/h", "4.20/h": to the nearest millionth.
Result<Price> parse_price(std::string_view text);

/// The shortest text that parses back to the price: "$4.2/h".
std::string text(const Price& price);

/// "$4.2", "EUR 4.2": the currency stands before the digits as it does in a price.
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
