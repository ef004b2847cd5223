// Runs one command in every machine of a lab at once, and collects what they print.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "backends/real/lab/lab.h"
#include "core/cluster/cluster.h"
#include "studies/process/signals.h"

namespace weir {

/// A whole line that a machine's command printed.
struct LabLine {
  std::string machine;
  bool errors = false;  // whether on its error stream
  std::string text;
};

/// Progress for callers; each function may be empty.
struct LabEvents {
  std::function<void(const LabLine& line)> line;
  std::function<void()> flushed;  // after a batch of lines
  std::function<void(const std::string& machine, const std::string& how)> failed;
  std::function<void()> late;  // the time is up, and the commands are asked to end
};

/// How the commands ended.
struct LabRun {
  bool failed = false;        // whether one of them failed
  bool late = false;          // whether they were asked to end because the time was up
  std::optional<int> signal;  // the signal that asked them to end: SIGINT, SIGTERM or SIGHUP
};

/// Runs the command in every machine, each with its lab_environment(), until all have ended. At the deadline,
/// or when a signal arrives, commands that still run are asked to end, and then killed. Fails if one cannot
/// be started.
Result<LabRun> run_in_lab(real::Lab& lab, const Cluster& cluster, const std::vector<std::string>& command,
                          std::optional<Duration> deadline, const Signals& signals,
                          const LabEvents& events = {});

/// Variables such as "WEIR_RANK=0", for a program that runs in the machine. WEIR_ADDRESSES separates machines
/// by commas and a machine's NICs by +.
std::vector<std::string> lab_environment(const Cluster& cluster, MachineId machine);

}  // namespace weir
