// What weir whatif prints: what is asked, and the answers, for people and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "studies/run/input.h"
#include "studies/whatif/answers.h"
#include "studies/whatif/whatif.h"

namespace weir {

struct Wording {
  std::string currency;  // of the prices; nothing is told of costs without
  std::string sample;    // the trace's noun
};

/// A table of the series, with what an iteration costs if there are prices.
std::string table(const Series& series, const Wording& wording);

/// A table of the knees of several series.
std::string knees(const std::vector<Series>& all, const Wording& wording);

std::string csv(const std::vector<Series>& all);
/// An object with these members and the answers.
std::string json(const std::vector<Series>& all, nlohmann::ordered_json members);

/// What is asked. References; they outlive it.
struct WhatifPage {
  const Input& input;
  const Experiment& experiment;
  const Scenarios& scenarios;
  bool bound_only;
};

void introduce_whatif(const WhatifPage& page);
/// On the error stream: what has no answer, and why.
void tell_missing(const WhatifAnswers& answers);
/// All tables, and the advice if there is any.
void show(const WhatifAnswers& answers, const WhatifPage& page);
std::string json(const WhatifAnswers& answers, const WhatifPage& page);

}  // namespace weir
