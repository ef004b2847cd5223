#include "core/base/units_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "core/base/nearest.h"

namespace weir {
namespace {

constexpr std::int64_t kThousand = 1000;
constexpr std::int64_t kMillion = 1'000'000;
constexpr std::int64_t kBillion = 1'000'000'000;
constexpr std::int64_t kTrillion = 1'000'000'000'000;
constexpr std::int64_t kKibi = 1LL << 10;
constexpr std::int64_t kMebi = 1LL << 20;
constexpr std::int64_t kGibi = 1LL << 30;
constexpr std::int64_t kTebi = 1LL << 40;

/// One unit is `scale` / `parts` of the smallest quantity. `parts` is 8 if the unit counts bits, otherwise 1.
struct Unit {
  std::string_view name;
  std::int64_t scale;
  int parts;
};

// If several texts are equally short, the unit that comes first here is written.
constexpr Unit kSizeUnits[] = {{"MB", kMillion, 1},  {"MiB", kMebi, 1},    {"GB", kBillion, 1},
                               {"GiB", kGibi, 1},    {"KB", kThousand, 1}, {"KiB", kKibi, 1},
                               {"TB", kTrillion, 1}, {"TiB", kTebi, 1},    {"B", 1, 1}};
constexpr Unit kRateUnits[] = {{"Gbps", kBillion, 8},  {"GB/s", kBillion, 1},  {"Mbps", kMillion, 8},
                               {"MB/s", kMillion, 1},  {"GiB/s", kGibi, 1},    {"MiB/s", kMebi, 1},
                               {"Tbps", kTrillion, 8}, {"TB/s", kTrillion, 1}, {"TiB/s", kTebi, 1},
                               {"kbps", kThousand, 8}, {"KB/s", kThousand, 1}, {"KiB/s", kKibi, 1},
                               {"bps", 1, 8},          {"B/s", 1, 1}};
constexpr Unit kDurationUnits[] = {
    {"us", kThousand, 1}, {"ms", kMillion, 1}, {"s", kBillion, 1}, {"ns", 1, 1}};

/// A kind of quantity: its name, and an example for messages.
struct Quantity {
  std::string_view noun;
  std::string_view example;
  std::string_view smallest;
  std::span<const Unit> units;
};

constexpr Quantity kSize = {"size", "4MiB", "bytes", kSizeUnits};
constexpr Quantity kRate = {"rate", "100Gbps", "bytes per second", kRateUnits};
constexpr Quantity kDuration = {"duration", "5us", "nanoseconds", kDurationUnits};

/// A decimal number as written: `digits` / 10^`places`.
struct Decimal {
  Wide digits = 0;
  int places = 0;
  std::string_view text;
  std::string_view rest;
};

bool digit(char c) { return c >= '0' && c <= '9'; }

Wide power_of_ten(int exponent) {
  Wide power = 1;
  for (int i = 0; i < exponent; ++i) power *= 10;
  return power;
}

constexpr int kMostDigits = 19;  // as many as the largest 64-bit integer has

/// The unsigned decimal number at the beginning of the text. None if it is missing or has too many digits.
std::optional<Decimal> leading_decimal(std::string_view text) {
  Decimal number;
  std::size_t at = 0;
  int digits = 0;
  auto take_digits = [&] {
    const std::size_t begin = at;
    for (; at < text.size() && digit(text[at]); ++at) {
      if (++digits <= kMostDigits) number.digits = number.digits * 10 + (text[at] - '0');
    }
    return static_cast<int>(at - begin);
  };
  if (take_digits() == 0) return std::nullopt;
  if (at < text.size() && text[at] == '.') {
    ++at;
    number.places = take_digits();
    if (number.places == 0) return std::nullopt;
  }
  if (digits > kMostDigits) return std::nullopt;
  number.text = text.substr(0, at);
  number.rest = text.substr(at);
  return number;
}

tl::unexpected<Error> not_a(const Quantity& quantity, std::string_view text, std::string_view remedy) {
  return failure(fmt::format("'{}' is not a {}; try {}", text, quantity.noun, remedy));
}

/// The unit that a wrong name probably means: the nearest with the same first letter. So '1EB' suggests no
/// '1MB', which is something else.
std::optional<std::string_view> meant_unit(const Quantity& quantity, std::string_view name) {
  if (name.empty()) return quantity.units.front().name;
  constexpr int kMostEdits = 2;
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  std::optional<std::string_view> best;
  int best_distance = kMostEdits + 1;
  for (const Unit& unit : quantity.units) {
    const int distance = edit_distance(name, unit.name);
    if (lower(name.front()) != lower(unit.name.front()) || distance >= best_distance) continue;
    best = unit.name;
    best_distance = distance;
  }
  return best;
}

/// The quantity in its smallest parts, as an exact fraction: nothing is rounded yet.
struct Parsed {
  Wide numerator = 0;
  Wide denominator = 1;
};

Result<Parsed> parse(const Quantity& quantity, std::string_view text) {
  const std::optional<Decimal> number = leading_decimal(text);
  if (!number) return not_a(quantity, text, quantity.example);
  std::string_view name = number->rest;
  if (name.starts_with(' ')) name.remove_prefix(1);
  for (const Unit& unit : quantity.units) {
    if (unit.name != name) continue;
    return Parsed{number->digits * unit.scale, power_of_ten(number->places) * unit.parts};
  }
  if (const auto unit = meant_unit(quantity, name))
    return not_a(quantity, text, fmt::format("{}{}", number->text, *unit));
  std::vector<std::string_view> names;
  for (const Unit& unit : quantity.units) names.push_back(unit.name);
  return failure(fmt::format("'{}' is not a {}: unknown unit '{}'; expected one of {}", text, quantity.noun,
                             name, fmt::join(names, ", ")));
}

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() - 1;

Result<std::int64_t> parse_whole(const Quantity& quantity, std::string_view text) {
  const auto parsed = parse(quantity, text);
  if (!parsed) return tl::unexpected(parsed.error());
  if (parsed->numerator % parsed->denominator != 0) {
    return failure(fmt::format("'{}' is not a whole number of {}; round it", text, quantity.smallest));
  }
  const Wide value = parsed->numerator / parsed->denominator;
  if (value > kMost) return failure(fmt::format("'{}' is too large for a {}", text, quantity.noun));
  return static_cast<std::int64_t>(value);
}

/// The value in this unit as exact decimal digits, if at most nine of them follow the point.
std::optional<std::string> exact_decimal(std::int64_t value, const Unit& unit) {
  const Wide product = static_cast<Wide>(value) * unit.parts;
  constexpr int kPlaces = 9;
  const Wide shifted = product * power_of_ten(kPlaces);
  if (shifted % unit.scale != 0) return std::nullopt;
  if (product / unit.scale > kMost) return std::nullopt;
  const auto whole = static_cast<std::int64_t>(product / unit.scale);
  const auto fraction = static_cast<std::int64_t>(shifted / unit.scale % power_of_ten(kPlaces));
  std::string digits = fmt::format("{}.{:09}", whole, fraction);
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits.pop_back();
  return digits;
}

std::string shortest_text(const Quantity& quantity, std::int64_t value) {
  if (value < 0) return "-" + shortest_text(quantity, -value);
  std::string best;
  for (const Unit& unit : quantity.units) {
    const std::optional<std::string> digits = exact_decimal(value, unit);
    if (!digits || digits->size() > kMostDigits) continue;
    std::string candidate = fmt::format("{}{}", *digits, unit.name);
    if (best.empty() || candidate.size() < best.size()) best = std::move(candidate);
  }
  return best.empty() ? fmt::format("{}{}", value, quantity.units.back().name) : best;
}

struct Step {
  std::string_view name;
  double size;
};

/// The value to four digits, in the largest unit that does not exceed it. Steps go from large to small.
std::string rounded_text(double value, std::span<const Step> steps) {
  const Step* chosen = &steps.back();
  for (const Step& step : steps) {
    // 999.96 rounds to 1000, which the next larger unit shows better.
    if (std::abs(value) >= step.size * 0.99995) {
      chosen = &step;
      break;
    }
  }
  const double shown = value / chosen->size;
  const double magnitude = std::abs(shown);
  const int places = magnitude >= 999.95 ? 0 : magnitude >= 99.995 ? 1 : magnitude >= 9.9995 ? 2 : 3;
  std::string digits = fmt::format("{:.{}f}", shown, places);
  if (digits.find('.') != std::string::npos) digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits.pop_back();
  return fmt::format("{} {}", digits, chosen->name);
}

std::string pattern(const Quantity& quantity) {
  std::string names;
  for (const Unit& unit : quantity.units) names += fmt::format("{}{}", names.empty() ? "" : "|", unit.name);
  return fmt::format("[0-9]+(\\.[0-9]+)? ?({})", names);
}

}  // namespace

Result<Bytes> parse_size(std::string_view text) {
  const auto count = parse_whole(kSize, text);
  if (!count) return tl::unexpected(count.error());
  return Bytes(*count);
}

Result<BytesPerSecond> parse_rate(std::string_view text) {
  if (text == "unlimited") return BytesPerSecond::unlimited();
  const auto parsed = parse(kRate, text);
  if (!parsed) return tl::unexpected(parsed.error());
  const Wide value = (parsed->numerator + parsed->denominator / 2) / parsed->denominator;
  if (value > kMost) return failure(fmt::format("'{}' is too large for a rate; try unlimited", text));
  if (value == 0)
    return failure(fmt::format("'{}' is not a rate: nothing would ever arrive; try {}", text, kRate.example));
  return BytesPerSecond(static_cast<std::int64_t>(value));
}

Result<Duration> parse_duration(std::string_view text) {
  const auto ns = parse_whole(kDuration, text);
  if (!ns) return tl::unexpected(ns.error());
  return Duration(*ns);
}

std::string text(Bytes size) { return shortest_text(kSize, size.count()); }

std::string text(BytesPerSecond rate) {
  return rate.limited() ? shortest_text(kRate, rate.value()) : "unlimited";
}

std::string text(Duration duration) { return shortest_text(kDuration, duration.ns()); }

std::string rounded(Bytes size) {
  constexpr std::array<Step, 5> kSteps = {{{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1}}};
  return rounded_text(static_cast<double>(size.count()), kSteps);
}

std::string rounded(BytesPerSecond rate) {
  if (!rate.limited()) return "unlimited";
  constexpr std::array<Step, 5> kSteps = {
      {{"Tbps", 1e12}, {"Gbps", 1e9}, {"Mbps", 1e6}, {"kbps", 1e3}, {"bps", 1}}};
  return rounded_text(static_cast<double>(rate.value()) * 8, kSteps);
}

std::string rounded(Duration duration) {
  if (duration == Duration(0)) return "0 s";
  constexpr std::array<Step, 4> kSteps = {{{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}}};
  return rounded_text(static_cast<double>(duration.ns()), kSteps);
}

std::string rounded_in_bytes(BytesPerSecond rate) {
  if (!rate.limited()) return "unlimited";
  constexpr std::array<Step, 5> kSteps = {
      {{"TB/s", 1e12}, {"GB/s", 1e9}, {"MB/s", 1e6}, {"KB/s", 1e3}, {"B/s", 1}}};
  return rounded_text(static_cast<double>(rate.value()), kSteps);
}

std::string size_pattern() { return fmt::format("^{}$", pattern(kSize)); }

std::string rate_pattern() { return fmt::format("^({}|unlimited)$", pattern(kRate)); }

std::string duration_pattern() { return fmt::format("^{}$", pattern(kDuration)); }

}  // namespace weir
