// Computes a share of a sweep: its runs that have no result yet, each in a process of its own, into a
// database of this process in the sweep's folder.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/base/units.h"
#include "studies/output/study_error.h"
#include "studies/sweep/share.h"
#include "studies/sweep/sweep_folder.h"

namespace weir {

struct SweepSettings {
  std::string folder;                    // for results; what it has is not computed again
  Share share;                           // that this process computes
  int jobs = 1;                          // runs at once
  Duration deadline{3'600'000'000'000};  // of each run; one that takes longer is ended and has failed
  bool retry = false;                    // compute runs again that came to nothing earlier
};

/// What a caller may want to know meanwhile. Called in this process; each may be empty.
struct SweepEvents {
  /// Once it is known how many runs are left for this share.
  std::function<void(const Design& design, std::size_t left)> begun;
  /// After each run: what it came to, its name for people, and how many have ended.
  std::function<void(const StoredResult& result, const std::string& name, std::size_t ended)> ended;
};

/// What the share came to.
struct ShareResult {
  std::size_t left = 0;       // runs that were to be computed
  std::size_t ended = 0;      // of these
  std::size_t failed = 0;     // runs of the share that came to nothing, earlier ones that are left so too
  std::optional<int> signal;  // that asked to end: SIGINT, SIGTERM or SIGHUP
};

/// To be called from a process with one thread. The input is wrong if a point is, or if somebody works in the
/// folder on the same share or on another sweep.
Studied<ShareResult> compute_share(const ExperimentFile& file, const World& world,
                                   const SweepSettings& settings, const SweepEvents& events = {});

}  // namespace weir
