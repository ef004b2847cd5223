// Computes a share of a sweep: its runs without results, each in a process of its own, into this process's
// database in the sweep's folder.
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
  std::string folder;                    // for results; existing ones are not computed again
  Share share;                           // computed by this process
  int jobs = 1;                          // runs at once
  Duration deadline{3'600'000'000'000};  // of each run; a run that exceeds it is ended and counts as failed
  bool retry = false;                    // also repeat runs that failed earlier
};

/// Progress for callers. Called in this process; each function may be empty.
struct SweepEvents {
  /// Called once the number of remaining runs of this share is known.
  std::function<void(const Design& design, std::size_t left)> begun;
  /// Called after each run with its result, its name for people, and the number of runs that have ended.
  std::function<void(const StoredResult& result, const std::string& name, std::size_t ended)> ended;
};

/// The result of computing the share.
struct ShareResult {
  std::size_t left = 0;       // runs to compute
  std::size_t ended = 0;      // of these
  std::size_t failed = 0;     // failed runs of the share, including earlier ones that were not repeated
  std::optional<int> signal;  // that asked to end: SIGINT, SIGTERM or SIGHUP
};

/// Call it from a process with one thread. The input counts as wrong if a point is, or if somebody works in
/// the folder on the same share or on another sweep.
Studied<ShareResult> compute_share(const ExperimentFile& file, const World& world,
                                   const SweepSettings& settings, const SweepEvents& events = {});

}  // namespace weir
