// What must hold in an experiment beyond each single field, told at the line where it does not.
#pragma once

#include "core/document/complaints.h"
#include "core/experiment/experiment_fields.h"

namespace weir {

/// Adds what is wrong with options and their credit, which are members of a document at a path ("" or one
/// that ends in a dot), to the complaints; settles the credit.
void check_options(const std::string& prefix, Options& options, const Value& credit, const Value& document,
                   Complaints& complaints);

/// Adds all that is wrong to the complaints, and settles what the file may say in several ways: names of
/// strategies and the credit. The document is what the text was read from.
void check_experiment(ExperimentText& text, const Value& document, Complaints& complaints);

}  // namespace weir
