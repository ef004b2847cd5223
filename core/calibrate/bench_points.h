// Points from files: what `weir bench sum|copy|transport --json` print, and nccl-tests' tables and JSON.
#pragma once

#include "core/base/result.h"
#include "core/calibrate/point.h"

namespace weir {

/// Whether the document is one of these. (Those of `weir bench allreduce` and `pushpull` are runs,
/// real_runs.h.)
bool has_points(const Value& document);

/// The points of the document, of that group of machines (empty for all). Complaints say line and path.
Result<std::vector<Point>> read_points(const Value& document, const std::string& source,
                                       const std::string& group);

/// The same of a table of nccl-tests.
Result<std::vector<Point>> read_points(const std::string& table, const std::string& source,
                                       const std::string& group);

}  // namespace weir
