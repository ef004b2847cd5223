#include "core/experiment/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/base/hash.h"
#include "core/document/read_fields.h"
#include "core/document/spelling.h"
#include "core/experiment/sample.h"

namespace weir {
namespace {

constexpr std::string_view kFixed[] = {"question", "strategies", "baseline",  "sweep",           "sweep_by",
                                       "samples",  "seeds",      "timelines", "timeline_points", "published"};

// Whether an experiment can vary the values at these paths.
Result<void> check_paths(const Value::Member& member, const std::string& path) {
  const std::vector<std::string> paths = paths_in(member.name);
  for (const std::string& each : paths) {
    const std::string head = each.substr(0, each.find('.'));
    for (const std::string_view name : kFixed) {
      if (head == name) {
        return failure(complaint(member.value, path, fmt::format("'{}' cannot be swept", name)));
      }
    }
    if (paths.size() > 1 && is_file_part(each)) {
      return failure(
          complaint(member.value, path, fmt::format("'{}' must be swept alone, without other paths", each)));
    }
  }
  return {};
}

Result<void> check_list(const Value& list, const std::string& path) {
  if (list.is(Value::Kind::kArray) && !list.elements().empty()) return {};
  const std::string found = list.is(Value::Kind::kArray) ? "an empty list" : description(list);
  return failure(complaint(list, path, "expected a list of values, not " + found));
}

// Keeps the first of equal points.
void leave_out_repeated(std::vector<Axis>& axes) {
  if (axes.empty()) return;
  std::set<std::string> seen;
  std::vector<Axis> left = axes;
  for (Axis& axis : left) axis.choices.clear();
  for (std::size_t i = 0; i < axes.front().choices.size(); ++i) {
    std::string point;
    for (const Axis& axis : axes) point += axis.choices[i].text + '\n';
    if (!seen.insert(point).second) continue;
    for (std::size_t a = 0; a < axes.size(); ++a) left[a].choices.push_back(axes[a].choices[i]);
  }
  axes = std::move(left);
}

// An axis whose choices are samples of the range or the list.
Result<Axis> read_sampled(const Value::Member& member, const Samples& samples) {
  const std::string path = joined("samples.over", member.name);
  if (const auto right = check_paths(member, path); !right) return tl::unexpected(right.error());
  if (is_file_part(member.name)) {
    return failure(
        complaint(member.value, path, "whole topologies and traces cannot be sampled; list them in 'sweep'"));
  }
  const Random random = Random(samples.seed).split(fnv1a(member.name));
  const std::vector<double> places = spread(samples.method, samples.count, random);
  Axis axis{member.name, {}, true};
  const auto add = [&](Value value, const Value& beside, const std::string& at) {
    value.place_beside(beside);
    value.written_at(at);
    std::string text = label(value);
    axis.choices.push_back({member.name, std::move(value), std::move(text)});
  };
  if (member.value.is(Value::Kind::kObject)) {
    const auto range = read_fields<SampleRange>(member.value, path);
    if (!range) return tl::unexpected(range.error());
    const auto values = values_at(places, *range, path);
    if (!values) return tl::unexpected(values.error());
    for (const Value& value : *values) add(value, member.value, path);
    return axis;
  }
  if (const auto right = check_list(member.value, path); !right) return tl::unexpected(right.error());
  const std::vector<Value>& values = member.value.elements();
  for (const double place : places) {
    const auto i = static_cast<std::size_t>(place * static_cast<double>(values.size()));
    add(values[i], values[i], joined(path, i));
  }
  return axis;
}

}  // namespace

std::string too_many(double points) {
  return fmt::format(
      "{:.0f} points are too many; at most {}: leave values out, or split it into several experiments",
      points, kMostPoints);
}

bool is_file_part(std::string_view path) { return path == "topology" || path == "trace"; }

Result<Axis> read_axis(const Value::Member& member, const Resolve& resolve) {
  const std::string path = joined("sweep", member.name);
  if (const auto right = check_paths(member, path); !right) return tl::unexpected(right.error());
  if (const auto right = check_list(member.value, path); !right) return tl::unexpected(right.error());
  Axis axis{member.name, {}};
  const std::vector<Value>& values = member.value.elements();
  if (values.size() > kMostPoints)
    return failure(complaint(member.value, path, too_many(static_cast<double>(values.size()))));
  std::set<std::string> seen;
  for (std::size_t i = 0; i < values.size(); ++i) {
    Setting choice{member.name, values[i], label(values[i])};
    const std::string own_path = joined(path, i);
    if (!seen.insert(choice.text).second) {
      return failure(complaint(values[i], own_path, fmt::format("{} is listed twice", choice.text)));
    }
    if (choice.text != on_one_line(choice.text)) {
      return failure(complaint(values[i], own_path, "expected a value without control characters"));
    }
    choice.value.written_at(own_path);
    if (is_file_part(member.name)) {
      auto part = resolve(choice.value, own_path);
      if (!part) return tl::unexpected(part.error());
      choice.value = std::move(*part);
    }
    axis.choices.push_back(std::move(choice));
  }
  return axis;
}

Result<std::vector<Axis>> read_samples(const Value& samples) {
  const auto read = read_fields<Samples>(samples, "samples");
  if (!read) return tl::unexpected(read.error());
  if (!read->over.is(Value::Kind::kObject) || read->over.members().empty()) {
    const std::string found =
        read->over.is(Value::Kind::kObject) ? "an empty object" : description(read->over);
    return failure(complaint(read->over, "samples.over", "expected an object of ranges, not " + found));
  }
  std::vector<Axis> axes;
  for (const Value::Member& member : read->over.members()) {
    auto axis = read_sampled(member, *read);
    if (!axis) return tl::unexpected(axis.error());
    axes.push_back(std::move(*axis));
  }
  leave_out_repeated(axes);
  return axes;
}

double count_points(const std::vector<Axis>& axes, Combination combination) {
  double points = 1;
  double samples = 1;
  for (const Axis& axis : axes) {
    const auto choices = static_cast<double>(axis.choices.size());
    if (axis.sampled) {
      samples = choices;
    } else if (combination == Combination::kGrid) {
      points *= choices;
    } else {
      points += choices - 1;
    }
  }
  return points * samples;
}

std::vector<Setting> point_of(const std::vector<Axis>& axes, Combination combination, std::size_t index) {
  const auto sampled = std::find_if(axes.begin(), axes.end(), [](const Axis& axis) { return axis.sampled; });
  const std::size_t samples = sampled == axes.end() ? 1 : sampled->choices.size();
  const std::size_t sample = index % samples;
  index /= samples;
  std::vector<Setting> settings(axes.size());
  for (std::size_t i = axes.size(); i-- > 0;) {
    const std::vector<Setting>& choices = axes[i].choices;
    if (axes[i].sampled) {
      settings[i] = choices[sample];
    } else if (combination == Combination::kGrid) {
      settings[i] = choices[index % choices.size()];
      index /= choices.size();
    }
  }
  if (combination == Combination::kGrid) return settings;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].sampled) continue;
    const std::size_t others = axes[i].choices.size() - 1;
    const bool here = index > 0 && index <= others;
    settings[i] = axes[i].choices[here ? index : 0];
    index = index > others ? index - others : 0;
  }
  return settings;
}

}  // namespace weir
