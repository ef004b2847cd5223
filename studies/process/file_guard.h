// Deletes files that must not outlive the process that made them: a job's key, the name of a socket.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/real/process/guard.h"
#include "core/base/result.h"

namespace weir {

/// Removes its files when destroyed. If the process ends first, however that happens, a guard process removes
/// them: it ignores the signals of terminals and waits for that end. Missing files are ignored. A resource;
/// may be made in a process with threads.
class FileGuard {
 public:
  /// Make it before the files, so that none is ever unguarded. Fails if the system cannot start the guard
  /// process.
  static Result<std::unique_ptr<FileGuard>> make(std::vector<std::string> files);
  FileGuard(const FileGuard&) = delete;
  FileGuard& operator=(const FileGuard&) = delete;
  ~FileGuard();

 private:
  FileGuard(std::vector<std::string> files, real::Guard guard)
      : files_(std::move(files)), guard_(std::move(guard)) {}

  std::vector<std::string> files_;  // absolute, because the guard has another working directory
  real::Guard guard_;
};

}  // namespace weir
