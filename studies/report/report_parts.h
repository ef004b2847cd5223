// The parts of a page about a sweep, each as HTML.
#pragma once

#include <string>

#include "studies/report/effects.h"
#include "studies/sweep/sweep_folder.h"

namespace weir {

/// The data of all parts; what it refers to outlives it.
struct ReportMatter {
  const SweepFolder& sweep;
  const std::string& folder;
  const std::string& page;  // the file of the page
  const Results& results;
  const std::vector<StrategySummary>& summaries;
  const Effects& effects;
};

/// A table row; the cells may contain HTML.
std::string html_row(const std::vector<std::string>& cells, const char* kind = "td");

/// Rounded, with unit.
std::string rounded_seconds(double seconds);

std::string answer_part(const ReportMatter& matter);      // each strategy's best run
std::string strategies_part(const ReportMatter& matter);  // speed-ups and distances from bounds
std::string binding_part(const ReportMatter& matter);     // their bottlenecks
std::string effects_part(const ReportMatter& matter);     // what was varied, and its effects
std::string failures_part(const ReportMatter& matter);    // runs without results
std::string origin_part(const ReportMatter& matter);      // versions, seeds, inputs
std::string runs_part(const ReportMatter& matter);        // every run

}  // namespace weir
