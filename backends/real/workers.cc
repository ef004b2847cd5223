#include "backends/real/workers.h"

#include "backends/real/clock.h"

namespace weir::real {

Workers::Workers(int threads, Work work, Inbox& inbox) : work_(std::move(work)), inbox_(&inbox) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
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
    jobs_.push_back({&op, round});
  }
  more_.notify_one();
}

void Workers::run() {
  for (;;) {
    Job job{};
    {
      std::unique_lock lock(mutex_);
      more_.wait(lock, [this] { return stop_ || !jobs_.empty(); });
      if (stop_) return;
      job = jobs_.front();
      jobs_.pop_front();
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
