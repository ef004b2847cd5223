// What a publication reports for the same runs as an experiment, and how near results must come to it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/document/fields.h"

namespace weir {

/// The quantity that is compared.
enum class Measure {
  kIteration,   // the time of an iteration, as "1400ms"
  kThroughput,  // samples per second of all GPUs
  kGoodput,     // bytes of the model over the time of communication, as "51.43Gbps"
  kEfficiency,  // compute over iteration: the throughput relative to as many GPUs alone
  kSpeedup,     // over the experiment's baseline
};

constexpr auto enum_names(Measure /*measure*/) {
  return std::array<Named<Measure>, 5>{{{Measure::kIteration, "iteration"},
                                        {Measure::kThroughput, "throughput"},
                                        {Measure::kGoodput, "goodput"},
                                        {Measure::kEfficiency, "efficiency"},
                                        {Measure::kSpeedup, "speedup"}}};
}

/// The values of one strategy, one for each point of the sweep, in its order.
struct PublishedCurve {
  std::string strategy;
  Measure measure = Measure::kIteration;
  Value values = Value::array();  // as in the file; null where nothing is reported
  double tolerance = 0.0;         // relative
  std::vector<std::optional<double>>
      numbers;  // the values once read: seconds, bytes or samples per second, or a plain ratio
};

struct Published {
  std::string source;         // the paper, with the figure, table or equation
  std::string calibrated_on;  // the inputs that were measured, not computed
  std::vector<PublishedCurve> curves;
};

template <class Visitor>
void fields(Visitor& visitor, PublishedCurve& curve) {
  visitor.required("strategy", curve.strategy, "the strategy that has these values: one of those compared");
  visitor.required("measure", curve.measure, "which quantity of a run is compared");
  visitor.required("values", curve.values, "a value for each point of the sweep in its order; null for none");
  visitor.required("tolerance", curve.tolerance, "the largest relative error that is accepted", within(0, 1));
}

template <class Visitor>
void fields(Visitor& visitor, Published& published) {
  visitor.required("source", published.source, "the publication, with its figure, table or equation");
  visitor.required("calibrated_on", published.calibrated_on,
                   "what the inputs were measured on; all else is computed");
  visitor.required("curves", published.curves, "the published values by strategy");
}

}  // namespace weir
