// The labels of results in words: how much each can be trusted, and why no more (core/calibrate/label.h).
#pragma once

#include <string>
#include <vector>

#include "core/calibrate/label.h"
#include "studies/run/row.h"

namespace weir {

/// A result's label, and what it is of: "ring".
struct Labelled {
  std::string who;
  std::string label;
  std::string reason;  // empty if there is nothing to say
};

/// Puts the label into the row.
void set_label(Row& row, const Label& label);

/// Lines under a table, a line for each reason: "extrapolated (ring, ps): network.latency was measured
/// with...". None if all are calibrated.
std::string reasons(const std::vector<Labelled>& all);

}  // namespace weir
