// Files that must not outlive the process that made them: a job's key, the name of a socket.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/real/process/guard.h"
#include "core/base/result.h"

namespace weir {

/// Removes files when it goes, or, however its process ends, once that has ended: a process of its own, deaf
/// to the signals of terminals, waits for that. Files that are not there are left out. A resource; may be
/// made in a process with threads.
class FileGuard {
 public:
  /// Make it before the files, so that there is no moment at which one is left. Fails if the system has no
  /// process for it.
  static Result<std::unique_ptr<FileGuard>> make(std::vector<std::string> files);
  FileGuard(const FileGuard&) = delete;
  FileGuard& operator=(const FileGuard&) = delete;
  ~FileGuard();

 private:
  FileGuard(std::vector<std::string> files, real::Guard guard)
      : files_(std::move(files)), guard_(std::move(guard)) {}

  std::vector<std::string> files_;  // absolute, as the guard stands elsewhere
  real::Guard guard_;
};

}  // namespace weir
