// Reads trace files and reports every mistake, writes them in full, and writes their schema.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/base/result.h"
#include "core/document/document.h"
#include "core/workload/trace.h"

namespace weir {

/// Reads and checks the file. A Workload can be made from the result.
Result<Trace> read_trace(const std::string& file);

/// Reads and checks the trace in a document or in a part of one. `path` is the place of that part.
Result<Trace> read_trace(const Value& value, const std::string& path = "");

/// The trace as JSON with every default filled in.
nlohmann::ordered_json write_trace(const Trace& trace);

/// The JSON Schema of trace files.
std::string trace_schema();

}  // namespace weir
