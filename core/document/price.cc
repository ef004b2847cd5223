#include "core/document/price.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace weir {
namespace {

constexpr std::string_view kAnHour = "/h";
constexpr std::size_t kLongestCurrency = 8;        // bytes
constexpr std::size_t kMostPriceDigits = 15;       // as many as a double holds
constexpr std::string_view kNoCurrency = "+-.,/";  // would look like part of the number

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_currency(std::string_view text) {
  return text.size() <= kLongestCurrency && std::none_of(text.begin(), text.end(), [](char c) {
           return (c >= '\0' && c <= ' ') || c == '\x7f' || kNoCurrency.find(c) != std::string_view::npos;
         });
}

// The text as a number, if it consists of digits only, perhaps with a point between them.
std::optional<double> decimal(std::string_view text) {
  if (text.empty() || text.size() > kMostPriceDigits + 1 || !is_digit(text.front()) || !is_digit(text.back()))
    return std::nullopt;
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

Result<Price> parse_price(std::string_view text) {
  const auto first =
      static_cast<std::size_t>(std::find_if(text.begin(), text.end(), is_digit) - text.begin());
  std::string_view currency = text.substr(0, first);
  std::string_view rest = text.substr(first);
  if (currency.ends_with(' ')) currency.remove_suffix(1);
  if (rest.ends_with(kAnHour)) {
    rest.remove_suffix(kAnHour.size());
    const std::optional<double> number = decimal(rest);
    if (number && is_currency(currency)) {
      return Price(std::llround(*number * 1e6), std::string(currency));
    }
  } else if (decimal(rest) && is_currency(currency)) {
    return failure(fmt::format("'{}' is not a price; try {}{}", text, text, kAnHour));
  }
  return failure(fmt::format("'{}' is not a price; try $4.20/h", text));
}

std::string text(const Price& price) {
  std::string digits =
      fmt::format("{}.{:06}", price.millionths() / 1'000'000, price.millionths() % 1'000'000);
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits.pop_back();
  return money(price.currency(), digits) + std::string(kAnHour);
}

std::string money(std::string_view currency, std::string_view digits) {
  const bool word = currency.size() > 1 && std::isalpha(static_cast<unsigned char>(currency.back())) != 0;
  return fmt::format("{}{}{}", currency, word ? " " : "", digits);
}

std::string UnitText<Price>::pattern() {
  return "^([^0-9\\u0000-\\u0020\\u007f+\\-.,/]{1,8} ?)?[0-9]+(\\.[0-9]+)?/h$";
}

}  // namespace weir
