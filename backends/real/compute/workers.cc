#include "backends/real/compute/workers.h"

#include <algorithm>

#include "backends/real/process/clock.h"
#include "backends/real/process/threads.h"

namespace weir::real {

Workers::Workers(int threads, Work work, Inbox& inbox, Home home)
    : work_(std::move(work)), home_(std::move(home)), inbox_(&inbox) {
  const std::vector<int> nodes = numa_nodes();
  for (int i = 0; i < threads; ++i) {
    const int numa = nodes[static_cast<std::size_t>(i) % nodes.size()];
    threads_.emplace_back([this, numa, pinned = home_ && nodes.size() > 1] {
      // This process may be allowed no CPU of the node. The node's threads then run on any CPU.
      if (pinned) (void)pin_to_numa(numa);
      run(numa);
    });
  }
}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  more_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::put(const Op& op, std::uint64_t round) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back({&op, round, home_ ? home_(op) : 0});
  }
  more_.notify_one();
}

// The first job of the NUMA node, or else the first of all.
Workers::Job Workers::take(int numa) {
  auto job = std::find_if(jobs_.begin(), jobs_.end(), [&](const Job& one) { return one.numa == numa; });
  if (job == jobs_.end()) job = jobs_.begin();
  const Job taken = *job;
  jobs_.erase(job);
  return taken;
}

void Workers::run(int numa) {
  for (;;) {
    Job job{};
    {
      std::unique_lock lock(mutex_);
      more_.wait(lock, [this] { return stop_ || !jobs_.empty(); });
      if (stop_) return;
      job = take(numa);
    }
    Event event;
    event.op = job.op->id;
    event.started = Clock::monotonic();
    work_(*job.op, job.round);
    event.at = Clock::monotonic();
    inbox_->put(std::move(event));
  }
}

}  // namespace weir::real
