#include "core/calibrate/run_parameter.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <sstream>

#include "core/base/units_text.h"
#include "core/experiment/settings.h"

namespace weir {
namespace {

constexpr double kRateStep = 0.02;       // of the logarithm
constexpr double kTimeStep = 100e-6;     // seconds
constexpr double kFractionStep = -0.05;  // of the logarithm
constexpr double kRatePrior = 0.15;
constexpr double kTimePrior = 2.0;
constexpr double kFractionPrior = 0.3;
constexpr double kLeastTime = 5e-6;   // seconds, where the topology says none
constexpr double kLongestTime = 0.5;  // seconds

// Rates of links, which runs can determine.
bool of_links(const std::string& path) {
  return path.ends_with(".rate") || path.ends_with(".pcie") || path.ends_with(".uplink") ||
         path.ends_with(".peer_rate") || path.ends_with(".memory_rate");
}

// The kind of a path, without the group's name and numbers: "groups nics rate" for "groups.gpu.nics.0.rate".
std::string kind(const std::string& path) {
  std::string kind;
  std::istringstream parts(path);
  std::size_t index = 0;
  for (std::string part; std::getline(parts, part, '.'); ++index) {
    const bool number = part.find_first_not_of("0123456789") == std::string::npos;
    if (number || (index == 1 && path.starts_with("groups."))) continue;
    kind += (kind.empty() ? "" : " ") + part;
  }
  return kind;
}

// Whether benchmarks only give a start for fits of runs to this value.
bool of_messages(const std::string& path) {
  return of_experiment(path) || path == "network.latency" || path.find(".nics.") != std::string::npos;
}

BytesPerSecond times(BytesPerSecond rate, double factor) {
  if (!rate.limited()) return rate;
  return BytesPerSecond(std::llround(static_cast<double>(rate.value()) * factor));
}

// A rate, or one for each direction, multiplied by the factor.
Value scaled(const Value& rate, double factor) {
  if (rate.is(Value::Kind::kString)) return Value(text(times(*parse_rate(rate.as_string()), factor)));
  Value both = Value::object();
  for (const Value::Member& way : rate.members())
    both.append(way.name, Value(text(times(*parse_rate(way.value.as_string()), factor))));
  return both;
}

}  // namespace

Value RunParameter::value(std::size_t path) const {
  switch (unit) {
    case Unit::kRate:
      return scaled(start[path], std::exp(x));
    case Unit::kTime:
      return Value(text(Duration::from_seconds(now())));
    case Unit::kFraction:
      break;
  }
  return Value(std::round(now() * 1e6) / 1e6);
}

std::string RunParameter::group(const std::string& path) {
  return path.starts_with("groups.") ? path.substr(0, path.find('.', std::string_view("groups.").size()))
                                     : path;
}

std::set<std::string> RunParameter::groups() const {
  std::set<std::string> groups;
  for (const std::string& path : paths) groups.insert(group(path));
  return groups;
}

RunParameter RunParameter::separate(const std::string& group) {
  RunParameter off = *this;
  off.paths.clear();
  off.start.clear();
  RunParameter rest = off;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    RunParameter& side = RunParameter::group(paths[i]) == group ? off : rest;
    side.paths.push_back(paths[i]);
    side.start.push_back(start[i]);
  }
  *this = std::move(rest);
  return off;
}

double RunParameter::least() const {
  // A rate or a time may become as small as it likes: then it decides the times of all runs, or of none.
  return unit == Unit::kFraction ? std::log(kLeastEfficiency / at) : -std::numeric_limits<double>::infinity();
}

double RunParameter::most() const {
  if (unit == Unit::kRate) return kLargestFactor;
  return std::log((unit == Unit::kTime ? kLongestTime : 1.0) / at);
}

double RunParameter::prior() const {
  return unit == Unit::kRate ? kRatePrior : unit == Unit::kTime ? kTimePrior : kFractionPrior;
}

double RunParameter::step() const {
  return unit == Unit::kRate ? kRateStep : unit == Unit::kTime ? kTimeStep : kFractionStep;
}

double RunParameter::stepped() const {
  return unit == Unit::kTime ? std::log(step() / at + std::exp(x)) : x + step();
}

std::vector<RunParameter> run_parameters(const Topology& topology, const std::set<std::string>& used,
                                         const Values& stated, const Values& known) {
  const Value written = written_values(topology);
  std::map<std::string, RunParameter> alike;
  for (const std::string& path : used) {
    const auto benchmarked = known.find(path);
    if (benchmarked != known.end() && !of_messages(path)) continue;
    RunParameter own{.paths = {path}};
    const Value* start = value_at(written, path);
    if (of_experiment(path)) start = &stated.at(path);
    if (benchmarked != known.end()) start = &benchmarked->second;
    if (path == kMessageOverhead || path == "network.latency") {
      own.unit = RunParameter::Unit::kTime;
      if (start != nullptr) own.stated = parse_duration(start->as_string())->seconds();
      own.at = std::max(own.stated, kLeastTime);
    } else if (path == kAllreduceEfficiency) {
      own.unit = RunParameter::Unit::kFraction;
      own.at = start->as_double();
    } else if (!of_links(path) || start == nullptr) {
      continue;
    }
    const bool rate = own.unit == RunParameter::Unit::kRate;
    if (rate) own.start = {*start};
    const std::string name = rate ? fmt::format("{} {}", kind(path), label(*start)) : path;
    const auto [at, fresh] = alike.try_emplace(name, own);
    if (fresh) continue;
    at->second.paths.push_back(path);
    at->second.start.push_back(*start);
  }
  std::vector<RunParameter> all;
  for (auto& [name, parameter] : alike) all.push_back(std::move(parameter));
  return all;
}

}  // namespace weir
