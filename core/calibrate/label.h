// How far a simulated result can be trusted: were the values behind it fitted to measurements, and did those
// measurements cover the range that it uses?
#pragma once

#include <array>
#include <string>

#include "core/calibrate/uses.h"

namespace weir {

/// From the strongest to the weakest.
enum class Trust {
  kCalibrated,      // fitted to measurements of this range
  kExtrapolated,    // fitted to measurements of a smaller range
  kVendorConstant,  // stated by somebody, not measured
};

constexpr auto enum_names(Trust /*trust*/) {
  return std::array<Named<Trust>, 3>{{{Trust::kCalibrated, "calibrated"},
                                      {Trust::kExtrapolated, "extrapolated"},
                                      {Trust::kVendorConstant, "vendor constant"}}};
}

struct Label {
  Trust trust = Trust::kVendorConstant;
  std::string reason;  // the weakest value, and why; empty if calibrated
  friend bool operator==(const Label&, const Label&) = default;
};

/// The weakest of the labels of the values used.
Label label_of(const Uses& uses, const Experiment& experiment, const Contender& contender);

/// The same for a plan. The plan is the contender's on the cluster of the experiment's topology, and `works`
/// is its table.
Label label_of(const Plan& plan, const Cluster& cluster, const WorkTable& works, const Experiment& experiment,
               const Contender& contender);

}  // namespace weir
