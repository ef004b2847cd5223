// Who is at work in a sweep's folder: a small file of each process, whose time is set anew while it works. So
// that two sweeps do not compute the same, on one host or several, without locks, which shared file systems
// may not have.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "studies/sweep/share.h"

namespace weir {

/// A process at work.
struct Worker {
  std::string host;
  std::string boot;     // of the host, whose process numbers begin anew with it
  std::string numbers;  // the namespace that its process number is of
  std::int64_t process = 0;
  std::int64_t started = 0;  // when it did, in the kernel's ticks: numbers are used again
  int share_index = 0;
  int share_count = 1;
  int jobs = 1;        // runs at once
  std::string design;  // a hash of what it runs
};

/// Of this process.
Worker this_worker(const Share& share, int jobs, const std::string& design);

/// Those in the folder that live. One of this host does if its process is there; one of another host if its
/// file is younger than a minute.
std::vector<Worker> workers_in(const std::string& folder);

/// While it lives, this process is at work in the folder. A resource.
class ActiveWorker {
 public:
  /// Fails if somebody is there with the same share, or with shares of another number or another design. Of
  /// two who come in the same moment both may be refused.
  static Result<std::unique_ptr<ActiveWorker>> enter(const std::string& folder, const Worker& self);
  ActiveWorker(const ActiveWorker&) = delete;
  ActiveWorker& operator=(const ActiveWorker&) = delete;
  ~ActiveWorker();

  /// To be called every second or so.
  void beat();

 private:
  explicit ActiveWorker(std::string file) : file_(std::move(file)) {}
  std::string file_;
  std::int64_t last_beat_s_ = 0;
};

}  // namespace weir
