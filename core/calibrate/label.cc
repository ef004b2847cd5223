#include "core/calibrate/label.h"

#include <fmt/format.h>

#include <set>

#include "core/base/units_text.h"
#include "core/experiment/settings.h"

namespace weir {
namespace {

constexpr std::string_view kNetwork = "network";

class Judge {
 public:
  Judge(const Uses& uses, const Experiment& experiment, const Contender& contender)
      : uses_(uses),
        experiment_(experiment),
        contender_(contender),
        calibration_(*experiment.topology.calibration),
        written_(written_values(experiment.topology)) {
    for (const CalibratedValue& value : calibration_.values) known_[value.path] = &value;
    for (const GroupSpec& group : experiment.topology.groups) check_shape(group.name, shape(group));
    check_shape(std::string(kNetwork), shape(experiment.topology.network));
  }

  Label label() const {
    Label weakest{Trust::kCalibrated, ""};
    std::size_t more = 0;
    for (const auto& [path, sizes] : uses_.values) {
      Label own = judge(path, sizes);
      if (own.trust == Trust::kCalibrated) continue;
      if (own.trust == weakest.trust) ++more;
      if (own.trust <= weakest.trust) continue;
      weakest = std::move(own);
      more = 0;
    }
    if (more > 0) weakest.reason += fmt::format("; and {} more", more);
    return weakest;
  }

 private:
  void check_shape(const std::string& name, const std::string& now) {
    const auto then = calibration_.shapes.find(name);
    if (then == calibration_.shapes.end() || then->second != now) changed_.insert(name);
  }

  // The present value, as files write it. Nothing for paths that no calibration fits.
  std::optional<Value> current(const std::string& path) const {
    if (path == kMessageOverhead) return Value(text(experiment_.model.message_overhead));
    if (path == kAllreduceEfficiency) return Value(contender_.options.allreduce_efficiency);
    const Value* value = value_at(written_, path);
    return value == nullptr ? std::nullopt : std::optional(*value);
  }

  static bool equal(const Value& a, const Value& b) {
    const auto number = [](const Value& value) {
      return value.is(Value::Kind::kInteger) || value.is(Value::Kind::kDouble);
    };
    if (number(a) && number(b)) return a.as_double() == b.as_double();
    if (!a.is(Value::Kind::kString) || !b.is(Value::Kind::kString)) return a == b;
    const auto rate = parse_rate(a.as_string());
    const auto other = parse_rate(b.as_string());
    if (rate && other) return *rate == *other;
    const auto time = parse_duration(a.as_string());
    const auto other_time = parse_duration(b.as_string());
    return time && other_time ? *time == *other_time : a == b;
  }

  Label judge(const std::string& path, const Sizes& sizes) const {
    const auto found = known_.find(path);
    if (found == known_.end()) return {Trust::kVendorConstant, path + " was not measured"};
    const CalibratedValue& value = *found->second;
    const std::optional<Value> now = current(path);
    if (!now || !equal(*now, value.value)) {
      return {Trust::kVendorConstant,
              fmt::format("{} is {}, not the {} that was calibrated", path, now ? weir::label(*now) : "gone",
                          weir::label(value.value))};
    }
    if (!value.determined()) {
      return {Trust::kVendorConstant,
              fmt::format("the measurements did not determine {} (a standard error of {:.0f} %)", path,
                          *value.standard_error_percent)};
    }
    const auto beyond = [&](std::string why) { return Label{Trust::kExtrapolated, std::move(why)}; };
    const bool of_network = !path.starts_with("groups.");
    const std::string group = of_network ? "" : path.substr(7, path.find('.', 7) - 7);
    if (changed_.contains(of_network ? std::string(kNetwork) : group)) {
      return beyond(of_network ? path + " was measured with different racks"
                               : fmt::format("{} was measured on machines with different parts", path));
    }
    if (sizes.least < value.least_size || sizes.most > value.most_size) {
      const bool small = sizes.least < value.least_size;
      return beyond(fmt::format("{} was measured with sizes from {} to {}, and {} are used", path,
                                rounded(value.least_size), rounded(value.most_size),
                                rounded(small ? sizes.least : sizes.most)));
    }
    if (value.machines && uses_.machines > *value.machines) {
      return beyond(fmt::format("{} was measured with up to {} machines, and there are {}", path,
                                *value.machines, uses_.machines));
    }
    if (value.machines && uses_.racks > value.racks.value_or(1)) {
      return beyond(fmt::format("{} was measured within {} rack{}, and there are {}", path,
                                value.racks.value_or(1), value.racks.value_or(1) == 1 ? "" : "s",
                                uses_.racks));
    }
    return {Trust::kCalibrated, ""};
  }

  const Uses& uses_;
  const Experiment& experiment_;
  const Contender& contender_;
  const Calibration& calibration_;
  Value written_;
  std::map<std::string, const CalibratedValue*> known_;
  std::set<std::string> changed_;  // groups, and kNetwork
};

}  // namespace

Label label_of(const Uses& uses, const Experiment& experiment, const Contender& contender) {
  if (!experiment.topology.calibration) return {Trust::kVendorConstant, "the topology has no calibration"};
  return Judge(uses, experiment, contender).label();
}

Label label_of(const Plan& plan, const Cluster& cluster, const WorkTable& works, const Experiment& experiment,
               const Contender& contender) {
  if (!experiment.topology.calibration) return {Trust::kVendorConstant, "the topology has no calibration"};
  return label_of(uses_of(plan, cluster, works, experiment, contender), experiment, contender);
}

}  // namespace weir
