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

/// Threads take ops in the order in which they were put, and work on as many at once as there are threads.
/// They put an event into the inbox when an op is done. Only the node's owner calls put(). The inbox outlives
/// the workers.
///
/// On a host with several NUMA nodes, threads are assigned to the nodes in turn, and run on their node's CPUs
/// only. A thread takes ops of its own node first. If there are none, it takes those of other nodes, so that
/// no op waits while a thread is free.
class Workers final : public Engine {
 public:
  using Work = std::function<void(const Op& op, std::uint64_t round)>;

  /// The NUMA node, by the system's number, of the memory that an op works on.
  using Home = std::function<int(const Op& op)>;

  /// Several threads call `work` at once; the owner calls `home`.
  Workers(int threads, Work work, Inbox& inbox, Home home = {});
  /// Finishes the ops that have begun, then ends the threads.
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
