// Runs tasks in processes of their own, some at a time, so that one that crashes takes no other with it.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/base/units.h"
#include "studies/process/signals.h"

namespace weir {

/// What a task does, in its process; the text is what it leaves.
using Task = std::function<std::string(std::size_t index)>;

/// Told in this process, once a task has ended, with its text or with how it crashed.
using Ended = std::function<void(std::size_t index, const Result<std::string>& text)>;

/// Runs tasks 0 to count - 1, at most `jobs` at once, started in that order. A signal that arrives ends the
/// running ones and is returned; those tasks are not told of. A task that takes longer than the deadline, if
/// there is one, is ended and told of as crashed. To be called from a process with one thread.
std::optional<int> run_in_processes(std::size_t count, int jobs, const Task& task, const Ended& ended,
                                    const Signals& signals, std::optional<Duration> deadline = {});

/// How a watched task ended.
struct Ending {
  Result<std::string> text;   // what it left, or how it crashed
  std::optional<int> signal;  // that ended its process
  bool late = false;          // it was not done in time, and its process was killed
  std::string errors;         // the last of what it wrote on the error stream
  Duration took;
};

/// What is asked of watched tasks, and told of them, in this process.
struct Watch {
  std::optional<Duration> deadline;  // of each task
  std::function<void(std::size_t index)> started;
  std::function<void(std::size_t index, const Ending& ending)> ended;
  std::function<bool()>
      goes_on;  // asked every second or so; if not, those that run are ended and not told of
};

/// The same, and what tasks write on the error stream is kept from this process's.
std::optional<int> run_watched(std::size_t count, int jobs, const Task& task, const Watch& watch,
                               const Signals& signals);

}  // namespace weir
