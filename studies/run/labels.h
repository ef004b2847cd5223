// The labels of results in words: how far each can be trusted, and why not further (core/calibrate/label.h).
#pragma once

#include <string>
#include <vector>

#include "core/calibrate/label.h"
#include "studies/run/row.h"

namespace weir {

/// A result's label, and the name of the result: "ring".
struct Labelled {
  std::string who;
  std::string label;
  std::string reason;  // may be empty
};

/// Puts the label into the row.
void set_label(Row& row, const Label& label);

/// Lines for below a table, one for each reason: "extrapolated (ring, ps): network.latency was measured
/// with...". Empty if all results are calibrated.
std::string reasons(const std::vector<Labelled>& all);

}  // namespace weir
