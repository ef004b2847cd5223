#include "core/experiment/sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "core/base/units_text.h"

namespace weir {
namespace {

// The kind of a range's ends. value_of() turns a number of that kind back into a value.
enum class Kind { kInteger, kNumber, kSize, kRate, kDuration };

struct End {
  Kind kind;
  double number;
};

std::optional<End> end_of(const Value& value) {
  if (value.is(Value::Kind::kInteger)) return End{Kind::kInteger, value.as_double()};
  if (value.is(Value::Kind::kDouble)) return End{Kind::kNumber, value.as_double()};
  if (!value.is(Value::Kind::kString)) return std::nullopt;
  const std::string& text = value.as_string();
  if (const auto size = parse_size(text)) return End{Kind::kSize, static_cast<double>(size->count())};
  if (const auto rate = parse_rate(text); rate && rate->limited())
    return End{Kind::kRate, static_cast<double>(rate->value())};
  if (const auto time = parse_duration(text)) return End{Kind::kDuration, static_cast<double>(time->ns())};
  return std::nullopt;
}

// Rounded to four digits; a rate in bits, as it is written.
double rounded_number(Kind kind, double number) {
  constexpr double kBits = 8;
  if (kind == Kind::kRate) return rounded_number(Kind::kNumber, number * kBits) / kBits;
  constexpr int kDigits = 4;
  if (number == 0) return 0;
  const int beyond = static_cast<int>(std::floor(std::log10(std::abs(number)))) + 1 - kDigits;
  const double unit = std::pow(10, std::abs(beyond));
  return beyond >= 0 ? std::round(number / unit) * unit : std::round(number * unit) / unit;
}

Value value_of(Kind kind, double number) {
  const auto whole = static_cast<std::int64_t>(std::llround(number));
  switch (kind) {
    case Kind::kInteger:
      return Value(whole);
    case Kind::kNumber:
      return Value(number);
    case Kind::kSize:
      return Value(text(Bytes(whole)));
    case Kind::kRate:
      return Value(text(BytesPerSecond(whole)));
    case Kind::kDuration:
      return Value(text(Duration(whole)));
  }
  return {};
}

}  // namespace

std::vector<double> spread(Sampling method, int count, Random random) {
  std::vector<double> places(static_cast<std::size_t>(count));
  if (method == Sampling::kRandom) {
    for (double& place : places) place = random.uniform();
    return places;
  }
  std::vector<int> slices(places.size());
  std::iota(slices.begin(), slices.end(), 0);
  for (std::size_t i = slices.size(); i-- > 1;) {
    std::swap(slices[i], slices[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(i)))]);
  }
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = (slices[i] + random.uniform()) / count;
  return places;
}

Result<std::vector<Value>> values_at(const std::vector<double>& places, const SampleRange& range,
                                     const std::string& path) {
  auto from = end_of(range.from);
  auto to = end_of(range.to);
  for (const auto& [end, value, name] : {std::tuple(from, &range.from, "from"), {to, &range.to, "to"}}) {
    if (end) continue;
    return failure(complaint(*value, joined(path, name),
                             "expected a number, a size such as '4MiB', a rate such as '100Gbps' or a "
                             "duration such as '5us', not " +
                                 description(*value)));
  }
  if (from->kind == Kind::kInteger && to->kind == Kind::kNumber) from->kind = Kind::kNumber;
  if (from->kind == Kind::kNumber && to->kind == Kind::kInteger) to->kind = Kind::kNumber;
  if (from->kind != to->kind) {
    return failure(complaint(range.to, joined(path, "to"), "expected the same kind of value as in 'from'"));
  }
  if (from->number >= to->number) {
    return failure(complaint(range.to, joined(path, "to"),
                             fmt::format("expected more than 'from' ({})", label(range.from))));
  }
  const bool logarithmic = range.scale == Scale::kLogarithmic;
  if (logarithmic && from->number <= 0) {
    return failure(complaint(range.from, joined(path, "from"),
                             "expected more than 0, because the scale is logarithmic"));
  }
  // Each whole number has a slice of its own, as wide as on the scale.
  const double half = from->kind == Kind::kInteger ? 0.5 : 0.0;
  const auto forth = [&](double number) { return logarithmic ? std::log(number) : number; };
  const double least = forth(from->number - half);
  const double most = forth(to->number + half);
  std::vector<Value> values;
  for (const double place : places) {
    const double at = least + place * (most - least);
    double number = logarithmic ? std::exp(at) : at;
    number = from->kind == Kind::kInteger ? std::round(number) : rounded_number(from->kind, number);
    values.push_back(value_of(from->kind, std::clamp(number, from->number, to->number)));
  }
  return values;
}

}  // namespace weir
