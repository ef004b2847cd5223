// What weir whatif prints: the question and the answers, as text and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "studies/run/input.h"
#include "studies/whatif/answers.h"
#include "studies/whatif/whatif.h"

namespace weir {

struct Wording {
  std::string currency;  // of the prices; if empty, costs are not shown
  std::string sample;    // what the trace calls a sample
};

/// A table of the series; with the cost of an iteration if prices are known.
std::string table(const Series& series, const Wording& wording);

/// A table of the knees of several series.
std::string knees(const std::vector<Series>& all, const Wording& wording);

std::string csv(const std::vector<Series>& all);
/// A JSON object with these members and the answers.
std::string json(const std::vector<Series>& all, nlohmann::ordered_json members);

/// The question. The referenced objects outlive it.
struct WhatifPage {
  const Input& input;
  const Experiment& experiment;
  const Scenarios& scenarios;
  bool bound_only;
};

void introduce_whatif(const WhatifPage& page);
/// Prints on the error stream which questions have no answer, and why.
void print_missing(const WhatifAnswers& answers);
/// Prints all tables, and the advice if there is any.
void show(const WhatifAnswers& answers, const WhatifPage& page);
std::string json(const WhatifAnswers& answers, const WhatifPage& page);

}  // namespace weir
