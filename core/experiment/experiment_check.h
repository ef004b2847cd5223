// Checks what must hold in an experiment beyond single fields. Errors name the line.
#pragma once

#include "core/document/complaints.h"
#include "core/experiment/experiment_fields.h"

namespace weir {

/// Checks options and their credit, and sets options.credit. They are members of `document` at the path
/// `prefix`
/// ("" or one that ends in a dot).
void check_options(const std::string& prefix, Options& options, const Value& credit, const Value& document,
                   Complaints& complaints);

/// Checks everything, and settles what a file may state in several ways: names of strategies and the credit.
/// `text` was read from `document`.
void check_experiment(ExperimentText& text, const Value& document, Complaints& complaints);

}  // namespace weir
