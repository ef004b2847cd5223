// The threads of a node that sum, copy and compute in host memory.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "backends/real/compute/engine.h"
#include "backends/real/process/inbox.h"
#include "core/plan/op.h"

namespace weir::real {

/// Ops are worked on in the order in which they are put, as many at once as there are threads. Each is told
/// to the inbox when it is done. put() belongs to the owner of the node; the inbox outlives the workers.
///
/// On a host of several NUMA nodes threads belong to them in turn, and run on their CPUs only. A thread takes
/// ops of its own node first, and those of others when there are none, so that nothing waits for a thread.
class Workers final : public Engine {
 public:
  using Work = std::function<void(const Op& op, std::uint64_t round)>;

  /// The NUMA node of the memory that an op works on, by the system's number.
  using Home = std::function<int(const Op& op)>;

  /// `work` is called by several threads at once, `home` by the owner.
  Workers(int threads, Work work, Inbox& inbox, Home home = {});
  /// Ends the threads once they have done what they have begun.
  ~Workers() override;

  void put(const Op& op, std::uint64_t round) override;

 private:
  struct Job {
    const Op* op;
    std::uint64_t round;
    int numa;
  };
  void run(int numa);
  Job take(int numa);

  Work work_;
  Home home_;
  Inbox* inbox_;
  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<Job> jobs_;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace weir::real
