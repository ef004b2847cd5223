// Links that cannot bind, whatever flows there are: leaving them out of the sharing changes no rate, and
// makes it much cheaper to compute.
#pragma once

#include <vector>

#include "core/fluid/paths.h"

namespace weir {

/// By link: every flow over it also passes one of some other links that together let no more through than the
/// link itself takes, so that their limits imply its own. `rates` are in bytes per second, by link; flows
/// take these paths only. What is left of each path has at least one link. A link that varies, which at times
/// has less than its rate, is never redundant.
std::vector<bool> redundant_links(const std::vector<double>& rates, const Paths& paths,
                                  const std::vector<bool>& varies);

}  // namespace weir
