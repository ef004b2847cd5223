#include "studies/tune/tunables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/base/nearest.h"
#include "core/base/units_text.h"
#include "core/experiment/experiment_fields.h"
#include "core/experiment/experiment_file.h"
#include "core/strategies/strategy.h"

namespace weir {
namespace {

enum class Kind { kSize, kDuration, kCount, kFraction, kName };

struct Known {
  std::string_view name;
  Kind kind;
  std::string values;
  bool streams = false;
};

// The names of the enumeration's values with | between them, without those left out.
template <NamedEnum T>
std::string names_of(const std::vector<T>& left_out = {}) {
  std::vector<std::string_view> names;
  for (const auto& named : enum_names(T{})) {
    if (std::ranges::find(left_out, named.value) == left_out.end()) names.push_back(named.name);
  }
  return fmt::format("{}", fmt::join(names, "|"));
}

const std::vector<Known>& all_known() {
  static const std::vector<Known> all = {
      {"partition_size", Kind::kSize, "200KB..60MB"},
      {"finest_part", Kind::kSize, "100KB..10MB"},
      {"credit", Kind::kCount, "1..30"},
      {"fusion_size", Kind::kSize, "1MB..200MB"},
      {"bucket_size", Kind::kSize, "1MB..200MB"},
      {"fusion_buffer", Kind::kSize, "1MB..200MB"},
      {"cycle_time", Kind::kDuration, "1ms..20ms"},
      // Only parameter servers on machines without GPUs accept 'apart'.
      {"local", Kind::kName, names_of<LocalStage>({LocalStage::kApart})},
      {"brute_force", Kind::kFraction, "0|0.1|0.2|0.3|0.4|0.5"},
      // Only parameter servers accept 'in_turn'.
      {"placement", Kind::kName, names_of<PartPlacement>({PartPlacement::kInTurn})},
      {"numa", Kind::kName, names_of<NumaPlacement>()},
      {"policy", Kind::kName, names_of<Policy>()},
      // Simulated worlds model 'nccl' as its ring, so a trial would show nothing new.
      {"collective", Kind::kName, names_of<Collective>({Collective::kNccl})},
      {"channels", Kind::kCount, "1..8", true},
      {"io_threads", Kind::kCount, "1..4", true},
      {"workers", Kind::kCount, "1..4", true},
  };
  return all;
}

const Known* find_known(std::string_view name) {
  const auto found = std::ranges::find(all_known(), name, &Known::name);
  return found == all_known().end() ? nullptr : &*found;
}

// A value and its position among quantities.
struct Stop {
  Value value;
  double number = 0;
};

Result<Stop> stop_of(const Known& known, const std::string& words) {
  switch (known.kind) {
    case Kind::kSize: {
      const auto size = parse_size(words);
      if (!size) return tl::unexpected(size.error());
      return Stop{Value(text(*size)), static_cast<double>(size->count())};
    }
    case Kind::kDuration: {
      const auto duration = parse_duration(words);
      if (!duration) return tl::unexpected(duration.error());
      return Stop{Value(text(*duration)), static_cast<double>(duration->ns())};
    }
    case Kind::kCount:
    case Kind::kFraction: {
      const auto number = parse_document(words, "");
      const bool whole = known.kind == Kind::kCount;
      if (!number || !(number->is(Value::Kind::kInteger) || (!whole && number->is(Value::Kind::kDouble))))
        return failure(fmt::format("'{}' is not a {}", words, whole ? "whole number" : "number"));
      return Stop{*number, number->as_double()};
    }
    case Kind::kName:
      return Stop{Value(words), 0};
  }
  return Stop{};
}

Stop stop_at(Kind kind, double number) {
  const auto whole = static_cast<std::int64_t>(std::llround(number));
  if (kind == Kind::kSize) return {Value(text(Bytes(whole))), number};
  if (kind == Kind::kDuration) return {Value(text(Duration(whole))), number};
  return {Value(whole), number};
}

// The ends and the values between them, with seven steps per power of ten.
std::vector<Stop> ladder(Kind kind, const Stop& first, const Stop& last) {
  std::vector<Stop> stops = {first};
  for (double power = 1; power <= last.number; power *= 10) {
    for (const double step : {1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0}) {
      const double number = power * step;
      if (number > first.number && number < last.number && number == std::floor(number))
        stops.push_back(stop_at(kind, number));
    }
  }
  stops.push_back(last);
  return stops;
}

Result<std::vector<Stop>> range(const Known& known, const std::string& from, const std::string& to) {
  if (known.kind == Kind::kName || known.kind == Kind::kFraction)
    return failure("it has no range; give its values with | between them");
  const auto first = stop_of(known, from);
  if (!first) return tl::unexpected(first.error());
  const auto last = stop_of(known, to);
  if (!last) return tl::unexpected(last.error());
  if (first->number <= 0) return failure(fmt::format("'{}' is not above 0", from));
  if (first->number >= last->number)
    return failure(fmt::format("the range from {} to {} is empty; give the smaller value first", from, to));
  return ladder(known.kind, *first, *last);
}

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(at);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

Result<std::vector<Stop>> stops_of(const Known& known, const std::string& words) {
  constexpr std::string_view kTo = "..";
  if (words.empty()) return failure("no value is given; try " + known.values);
  if (const std::size_t to = words.find(kTo); to != std::string::npos)
    return range(known, words.substr(0, to), words.substr(to + kTo.size()));
  std::vector<Stop> stops;
  for (const std::string& word : split(words, '|')) {
    auto stop = stop_of(known, word);
    if (!stop) return tl::unexpected(stop.error());
    for (const Stop& other : stops) {
      if (other.value == stop->value) return failure(fmt::format("'{}' is listed twice", word));
    }
    stops.push_back(std::move(*stop));
  }
  std::stable_sort(stops.begin(), stops.end(),
                   [](const Stop& a, const Stop& b) { return a.number < b.number; });
  return stops;
}

Tunable tunable_of(const Known& known, const std::vector<Stop>& stops) {
  Tunable tunable{std::string(known.name), {}, tune::Dimension::choices(stops.size()), known.streams};
  std::vector<double> numbers;
  const auto origin = std::make_shared<const std::string>(fmt::format("over {}", known.name));
  for (const Stop& stop : stops) {
    tunable.values.push_back(stop.value);
    tunable.values.back().place_all(origin, 0);
    tunable.values.back().written_at("");
    numbers.push_back(stop.number);
  }
  if (known.kind != Kind::kName) tunable.dimension = tune::Dimension::quantities(numbers);
  return tunable;
}

// What usually matters for the strategy.
Result<std::string> usual(const Experiment& experiment, const Contender& contender) {
  const Strategy& strategy = *contender.strategy;
  const bool several = std::any_of(experiment.topology.groups.begin(), experiment.topology.groups.end(),
                                   [](const GroupSpec& group) { return gpu_count(group) > 1; });
  if (strategy.tuned.empty()) {
    return failure(fmt::format("over: {} has no parameters to tune by default; name some", strategy.name));
  }
  std::vector<std::string_view> names = strategy.tuned;
  if (several) names.insert(names.end(), strategy.tuned_for_gpus.begin(), strategy.tuned_for_gpus.end());
  return fmt::format("{}", fmt::join(names, ","));
}

// Rejects what has no effect: a user who varies it would believe that it has.
Result<void> check_meant(const Tunable& tunable, const Strategy& strategy, const Options& given) {
  if (tunable.streams) return {};
  const auto cuts = [&](const Strategy& one) {
    return std::ranges::find(one.grain, tunable.name) != one.grain.end();
  };
  // A window is a number of partition sizes, even where something else determines how tensors are cut.
  const bool paces = tunable.name == "partition_size" && strategy.settled(Options()).credit;
  if (std::ranges::any_of(strategies(), cuts) && !cuts(strategy) && !paces)
    return failure(fmt::format("over: {}: {} does the same with every value; leave it out", tunable.name,
                               strategy.name));
  const auto settled = write_options(strategy.settled(given));
  if (settled[tunable.name] == write_options(given)[tunable.name]) return {};
  return failure(
      fmt::format("over: {}: {} always has {}", tunable.name, strategy.name, settled[tunable.name].dump()));
}

Result<Tunable> read_tunable(const std::string& words, bool real) {
  const std::size_t equals = words.find('=');
  const std::string name = words.substr(0, equals);
  const Known* const known = find_known(name);
  if (known == nullptr) {
    std::vector<std::string> names;
    for (const Known& one : all_known()) names.emplace_back(one.name);
    const std::optional<std::string> meant = nearest(name, names);
    return failure(
        fmt::format("over: unknown parameter '{}'; {}", name,
                    meant ? fmt::format("did you mean '{}'?", *meant) : "expected one of " + quoted(names)));
  }
  if (known->streams && !real)
    return failure(fmt::format("over: {}: has no meaning in simulation; it is for real runs", name));
  const auto stops = stops_of(*known, equals == std::string::npos ? known->values : words.substr(equals + 1));
  if (!stops) return failure(fmt::format("over: {}: {}", name, stops.error().text));
  constexpr double kMostStreams = 64;
  if (known->streams && (stops->front().number < 1 || stops->back().number > kMostStreams))
    return failure(fmt::format("over: {}: expected numbers from 1 to {}", name, kMostStreams));
  return tunable_of(*known, *stops);
}

// The distance of a value from the wanted one: the ratio for quantities; names are equal or not.
double distance(const Known& known, const Value& value, const Stop& wanted) {
  if (value == wanted.value) return 0;
  if (known.kind == Kind::kName) return 1;
  const double number = stop_of(known, label(value))->number;
  return known.kind == Kind::kFraction ? std::abs(number - wanted.number)
                                       : std::abs(std::log(number / wanted.number));
}

}  // namespace

Result<std::vector<Tunable>> tunables(const std::string& over, const Experiment& experiment,
                                      const Contender& contender, bool real) {
  std::string words = over;
  if (words.empty()) {
    auto those = usual(experiment, contender);
    if (!those) return tl::unexpected(those.error());
    words = std::move(*those);
  }
  std::vector<Tunable> all;
  for (const std::string& one : split(words, ',')) {
    auto tunable = read_tunable(one, real);
    if (!tunable) return tl::unexpected(tunable.error());
    const auto meant = check_meant(*tunable, *contender.strategy, experiment.options);
    if (!meant) return tl::unexpected(meant.error());
    for (const Tunable& other : all) {
      if (other.name == tunable->name) return failure(fmt::format("over: '{}' is listed twice", other.name));
    }
    all.push_back(std::move(*tunable));
  }
  return all;
}

tune::Space space_of(const std::vector<Tunable>& tunables) {
  std::vector<tune::Dimension> dimensions;
  for (const Tunable& tunable : tunables) dimensions.push_back(tunable.dimension);
  return tune::Space(std::move(dimensions));
}

tune::Point nearest_point(const std::vector<Tunable>& tunables, const Options& options, const Streams& run) {
  nlohmann::ordered_json has = write_options(options);
  for (const auto& [name, member] : kStreams) {
    if (run.*member) has[std::string(name)] = *(run.*member);
  }
  tune::Point point;
  for (const Tunable& tunable : tunables) {
    const nlohmann::ordered_json& own = has[tunable.name];  // null for what the run chooses itself
    const Known& known = *find_known(tunable.name);
    const auto wanted = stop_of(known, own.is_string() ? own.get<std::string>() : own.dump());
    // A text that is not a number means unlimited credit.
    std::size_t nearest = !wanted && own.is_string() ? tunable.values.size() - 1 : 0;
    for (std::size_t i = 1; wanted && i < tunable.values.size(); ++i) {
      if (distance(known, tunable.values[i], *wanted) < distance(known, tunable.values[nearest], *wanted))
        nearest = i;
    }
    point.push_back(nearest);
  }
  return point;
}

SettingsFile settings_at(const std::vector<Tunable>& tunables, const tune::Point& point) {
  SettingsFile file{Value::object(), {}, {}};
  for (std::size_t i = 0; i < tunables.size(); ++i) {
    const Value& value = tunables[i].values[point[i]];
    if (!tunables[i].streams) file.settings.append(tunables[i].name, value);
    for (const auto& [name, member] : kStreams) {
      if (name == tunables[i].name) file.run.*member = static_cast<int>(value.as_integer());
    }
  }
  return file;
}

std::string tunables_help() {
  std::string help;
  for (const Known& known : all_known())
    help += fmt::format("  {:<15} {}{}\n", known.name, known.values, known.streams ? " (of real runs)" : "");
  return help;
}

}  // namespace weir
