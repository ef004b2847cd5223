// Tracks who works in a sweep's folder: each process has a small file there, whose time it renews while it
// works. So two sweeps do not compute the same runs, on one host or several. It needs no locks, which shared
// file systems may lack.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "studies/sweep/share.h"

namespace weir {

/// A working process.
struct Worker {
  std::string host;
  std::string boot;     // boot id of the host; process numbers restart with each boot
  std::string numbers;  // the namespace that its process number is of
  std::int64_t process = 0;
  std::int64_t started = 0;  // when it started, in kernel ticks, because process numbers are reused
  int share_index = 0;
  int share_count = 1;
  int jobs = 1;        // runs at once
  std::string design;  // a hash of what it runs
};

/// The worker that this process is.
Worker this_worker(const Share& share, int jobs, const std::string& design);

/// The live workers in the folder. A worker of this host is alive if its process exists; one of another host
/// if its file is younger than a minute.
std::vector<Worker> workers_in(const std::string& folder);

/// While it lives, this process counts as working in the folder. A resource.
class ActiveWorker {
 public:
  /// Fails if another worker has the same share, a different number of shares, or another design. If two
  /// enter at the same moment, both may be refused.
  static Result<std::unique_ptr<ActiveWorker>> enter(const std::string& folder, const Worker& self);
  ActiveWorker(const ActiveWorker&) = delete;
  ActiveWorker& operator=(const ActiveWorker&) = delete;
  ~ActiveWorker();

  /// Call it about every second.
  void beat();

 private:
  explicit ActiveWorker(std::string file) : file_(std::move(file)) {}
  std::string file_;
  std::int64_t last_beat_s_ = 0;
};

}  // namespace weir
