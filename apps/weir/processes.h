// Runs tasks in processes of their own, some at a time, so that one that crashes takes no other with it.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "apps/weir/signals.h"
#include "core/base/result.h"

namespace weir {

/// What a task does, in its process; the text is what it leaves.
using Task = std::function<std::string(std::size_t index)>;

/// Told in this process, once a task has ended, with its text or with how it crashed.
using Ended = std::function<void(std::size_t index, const Result<std::string>& text)>;

/// Runs tasks 0 to count - 1, at most `jobs` at once, started in that order. A signal that arrives ends the
/// running ones and is returned; those tasks are not told of. To be called from a process with one thread.
std::optional<int> run_in_processes(std::size_t count, int jobs, const Task& task, const Ended& ended,
                                    const Signals& signals);

}  // namespace weir
