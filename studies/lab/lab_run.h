// One command in every machine of a lab at once, and what all of them print.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "backends/real/lab/lab.h"
#include "core/cluster/cluster.h"
#include "studies/process/signals.h"

namespace weir {

/// A whole line that a machine's command has printed.
struct LabLine {
  std::string machine;
  bool errors = false;  // on its error stream
  std::string text;
};

/// What a caller may want to know meanwhile; each may be empty.
struct LabEvents {
  std::function<void(const LabLine& line)> line;
  std::function<void()> flushed;  // after the lines that came at once
  std::function<void(const std::string& machine, const std::string& how)> failed;
  std::function<void()> late;  // the time is up, and the commands are asked to end
};

/// How the commands ended.
struct LabRun {
  bool failed = false;        // one of them did
  bool late = false;          // they were asked to end, as the time was up
  std::optional<int> signal;  // that asked for it: SIGINT, SIGTERM or SIGHUP
};

/// Runs the command in every machine, each with lab_environment(), until all have ended. One that runs longer
/// than the deadline, or when a signal comes, is asked to end, and then killed. Fails if one cannot be
/// started.
Result<LabRun> run_in_lab(real::Lab& lab, const Cluster& cluster, const std::vector<std::string>& command,
                          std::optional<Duration> deadline, const Signals& signals,
                          const LabEvents& events = {});

/// "WEIR_RANK=0" and the like, for a program that runs in the machine. WEIR_ADDRESSES has commas between
/// machines and + between a machine's NICs.
std::vector<std::string> lab_environment(const Cluster& cluster, MachineId machine);

}  // namespace weir
