// Links that cannot bind, ever or for now, whatever flows there are: leaving them out of the sharing changes
// no rate, and makes it much cheaper to compute.
#pragma once

#include <vector>

#include "core/hardware/paths.h"

namespace weir {

/// Flows over a link that also pass this one use no more of the link than `rate`, in bytes per second.
struct Cover {
  LinkId by;
  double rate = 0.0;
};

/// By link. `rates` are in bytes per second, by link; flows take these paths only.
struct Binding {
  Binding() = default;
  /// A link that varies, which at times has less than its rate, is taken to bind at any time.
  Binding(const std::vector<double>& rates, const Paths& paths, const std::vector<bool>& varies);

  /// Every flow over the link also passes one of some other links that together let no more through than the
  /// link itself takes, so that their limits imply its own. What is left of each path without such links has
  /// at least one link.
  std::vector<bool> never;
  /// Not so, but links that do not have covers themselves let little more through: the link cannot bind while
  /// those of them that its flows pass let no more through than it takes. A flow counts for the first of
  /// them that is in its path, and each passes one. None, if the link may bind at any time.
  std::vector<std::vector<Cover>> covers;
};

}  // namespace weir
