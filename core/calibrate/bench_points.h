// Reads points from files: the output of `weir bench sum|copy|transport --json`, and nccl-tests' tables and
// JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/calibrate/point.h"

namespace weir {

/// Whether the document is one of these. (`weir bench allreduce` and `pushpull` print runs: see real_runs.h.)
bool has_points(const Value& document);

/// The engines of `weir bench transport` that move messages through NICs. Points of messages come from these
/// only, since the others use the host's loopback or memory.
using NicEngines = std::vector<std::string_view>;

/// The points of the document, for this group of machines (empty: for all). Errors name line and path.
Result<std::vector<Point>> read_points(const Value& document, const std::string& source,
                                       const std::string& group, const NicEngines& engines);

/// The same from a table of nccl-tests.
Result<std::vector<Point>> read_points(const std::string& table, const std::string& source,
                                       const std::string& group);

}  // namespace weir
