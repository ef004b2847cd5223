// What weir calibrate prints: the fitted values and their errors, as tables and as JSON.
#pragma once

#include <string>

#include "core/calibrate/calibrate.h"

namespace weir {

std::string text(const Calibrated& calibrated);
std::string json(const Calibrated& calibrated);

}  // namespace weir
