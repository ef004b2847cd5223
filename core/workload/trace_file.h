// Trace files: reading them with every mistake told, writing them in full, and their schema.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/base/result.h"
#include "core/document/document.h"
#include "core/workload/trace.h"

namespace weir {

/// The trace in the file, checked: a Workload can be made of it.
Result<Trace> read_trace(const std::string& file);

/// The trace in a document or in a part of one, checked. The path is where that part stands in its document.
Result<Trace> read_trace(const Value& value, const std::string& path = "");

/// The trace as JSON with every default filled in.
nlohmann::ordered_json write_trace(const Trace& trace);

/// The JSON Schema of trace files.
std::string trace_schema();

}  // namespace weir
