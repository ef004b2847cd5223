// Runs tasks in processes of their own, a few at a time, so that a crash of one does not affect others.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/base/units.h"
#include "studies/process/signals.h"

namespace weir {

/// The work of a task, in its own process; the text is its result.
using Task = std::function<std::string(std::size_t index)>;

/// Called in this process when a task has ended, with its text or with how it crashed.
using Ended = std::function<void(std::size_t index, const Result<std::string>& text)>;

/// Runs tasks 0 to count - 1, at most `jobs` at once, started in this order. An arriving signal ends the
/// running tasks and is returned; those tasks are not reported. A task that exceeds the deadline, if there is
/// one, is ended and reported as crashed. Call it from a process with one thread.
std::optional<int> run_in_processes(std::size_t count, int jobs, const Task& task, const Ended& ended,
                                    const Signals& signals, std::optional<Duration> deadline = {});

/// How a watched task ended.
struct Ending {
  Result<std::string> text;   // its result, or how it crashed
  std::optional<int> signal;  // that ended its process
  bool late = false;          // it exceeded the deadline, and its process was killed
  std::string errors;         // the end of what it wrote to the error stream
  Duration took;
};

/// Deadline and callbacks for watched tasks; the callbacks run in this process.
struct Watch {
  std::optional<Duration> deadline;  // of each task
  std::function<void(std::size_t index)> started;
  std::function<void(std::size_t index, const Ending& ending)> ended;
  std::function<bool()>
      goes_on;  // asked about every second; if false, running tasks are ended and not reported
};

/// The same, but tasks' error streams are captured, not written to this process's.
std::optional<int> run_watched(std::size_t count, int jobs, const Task& task, const Watch& watch,
                               const Signals& signals);

}  // namespace weir
