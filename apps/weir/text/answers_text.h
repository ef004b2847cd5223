// The answers of `weir whatif` as people and programs read them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "studies/whatif/answers.h"

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

}  // namespace weir
