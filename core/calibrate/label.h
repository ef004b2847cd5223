// How much a simulated result can be trusted: whether the values that it stands on were fitted on
// measurements, and whether those reached as far as it does.
#pragma once

#include <array>
#include <string>

#include "core/calibrate/uses.h"

namespace weir {

/// From the strongest to the weakest.
enum class Trust {
  kCalibrated,      // fitted on measurements that reached as far
  kExtrapolated,    // fitted on measurements that did not
  kVendorConstant,  // what somebody wrote down
};

constexpr auto enum_names(Trust /*trust*/) {
  return std::array<Named<Trust>, 3>{{{Trust::kCalibrated, "calibrated"},
                                      {Trust::kExtrapolated, "extrapolated"},
                                      {Trust::kVendorConstant, "vendor constant"}}};
}

struct Label {
  Trust trust = Trust::kVendorConstant;
  std::string reason;  // which value, and why it is no stronger; empty if calibrated
  friend bool operator==(const Label&, const Label&) = default;
};

/// The weakest of the labels of the values that are used.
Label label_of(const Uses& uses, const Experiment& experiment, const Contender& contender);

/// The same of a plan. It is that contender's on the cluster of the experiment's topology, and `works` its
/// table.
Label label_of(const Plan& plan, const Cluster& cluster, const WorkTable& works, const Experiment& experiment,
               const Contender& contender);

}  // namespace weir
