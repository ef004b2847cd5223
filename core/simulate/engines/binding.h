// Links that cannot be a bottleneck, ever or for now, whatever flows there are. Leaving them out changes no
// flow's rate and makes rates much cheaper to compute.
#pragma once

#include <vector>

#include "core/hardware/paths.h"

namespace weir {

/// Flows over a link that also pass the link `by` use at most `rate` of it together, in bytes per second.
struct Cover {
  LinkId by;
  double rate = 0.0;
};

/// By link. `rates` are in bytes per second, by link; flows take only these paths.
struct Binding {
  Binding() = default;
  /// A link that varies (at times it has less than its rate) counts as one that may bind at any time.
  Binding(const std::vector<double>& rates, const Paths& paths, const std::vector<bool>& varies);

  /// The link never binds: every flow over it also passes one of some other links that together let through
  /// no more than this link takes. Their limits imply its own. Every path keeps at least one link after such
  /// links are left out.
  std::vector<bool> never;
  /// Of links that bind only at times: links that every flow over it also passes, which have no covers
  /// themselves, and which let through little more than it takes. The link cannot bind while those covers
  /// that are in use let through no more than it takes. A flow counts for the first cover in its path, and
  /// each flow passes one. Empty if the link may bind at any time.
  std::vector<std::vector<Cover>> covers;
};

}  // namespace weir
