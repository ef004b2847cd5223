// What machines need of each other in an iteration, whatever the strategy: how soon one machine can end an
// iteration after another has ended the one before.
#pragma once

#include <map>
#include <vector>

#include "core/analysis/compute_times.h"
#include "core/analysis/passages.h"
#include "core/analysis/stretch.h"
#include "core/cluster/cluster.h"
#include "core/workload/workload.h"

namespace weir {

/// How long iterations need something that serves one byte or op at a time, in seconds.
struct Use {
  double first = 0.0;  // one iteration that all machines start together, with the computing before and after
  double two = 0.0;    // two, with the computing before and after
  double whole = 0.0;  // each, without computing
};

/// Let machine i end an iteration at the instant t. Then machine j ends the next iteration no earlier than t
/// + weight(i, j): for any layer l, i computes the backward of the layers from l on; its gradient of layers
/// 0..l leaves it, through its GPUs' links, its NICs and its rack's uplink, and enters j; and j computes the
/// forward of the layers from l on. A machine needs nothing from itself but its own computation and, with
/// several GPUs, their exchange. In the long run an iteration takes the largest mean weight of a cycle of
/// machines. With racks or unlike machines, such a cycle may lead through the slowest exchange only once.
///
/// Machines that nothing tells apart are one kind.
class Exchanges {
 public:
  Exchanges(const Cluster& cluster, const Workload& workload, const std::vector<Passage>& passages);

  /// For the longest chains that begin at the machine from which they are shortest.
  const Windows& windows() const { return windows_; }

  /// For something that all machines share.
  Windows shared(const Use& use) const;
  /// For such a passage.
  Windows through(const Passage& passage, const Use& use) const;
  /// For what every iteration of one machine needs after the one before, such as its computation.
  Windows alone(double seconds) const;

 private:
  // The most seconds that a byte takes.
  struct Ways {
    double out = 0.0;
    double in = 0.0;
    auto operator<=>(const Ways&) const = default;
    void offer(const Passage& passage);
  };
  struct Kind {
    double speed = 1.0;
    int rack = 0;
    Ways machine;         // to other machines and from them
    Ways uplink;          // to other racks and from them
    double inside = 0.0;  // between its GPUs
    auto operator<=>(const Kind&) const = default;
  };
  double between(const Kind& from, const Kind& into) const;
  double within(const Kind& kind) const;
  double longest(const ComputeTimes& from, const ComputeTimes& into, double seconds_per_byte) const;
  void find_windows();

  std::map<double, ComputeTimes> times_;  // by speed
  std::vector<double> bytes_;             // of layers 0..l
  std::map<Kind, int> kinds_;             // with the number of their machines
  std::size_t machines_;
  double apart_ = 0.0;  // the least weight between different machines; 0 if there is only one
  double alone_ = 0.0;  // the least weight from a machine to itself
  Windows windows_;
};

}  // namespace weir
