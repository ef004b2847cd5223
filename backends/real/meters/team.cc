#include "backends/real/meters/team.h"

#include <chrono>

#include "backends/real/process/threads.h"
#include "core/base/check.h"

namespace weir::real {

Result<std::unique_ptr<Team>> Team::make(int members, std::optional<int> numa) {
  WEIR_CHECK(members >= 1, members);
  if (numa) {  // the threads inherit it
    if (const auto pinned = pin_to_numa(*numa); !pinned) return tl::unexpected(pinned.error());
  }
  std::unique_ptr<Team> team(new Team(members));
  for (int member = 1; member < members; ++member) {
    team->threads_.emplace_back([raw = team.get(), member] { raw->serve(member); });
  }
  return team;
}

Team::~Team() {
  work_ = nullptr;
  begin_.arrive_and_wait();
  for (std::thread& thread : threads_) thread.join();
}

Duration Team::run(const Work& work) {
  using Clock = std::chrono::steady_clock;
  work_ = &work;
  begin_.arrive_and_wait();
  const Clock::time_point begin = Clock::now();
  work(0);
  end_.arrive_and_wait();
  return Duration(std::chrono::nanoseconds(Clock::now() - begin).count());
}

void Team::serve(int member) {
  for (;;) {
    begin_.arrive_and_wait();
    if (work_ == nullptr) return;
    (*work_)(member);
    end_.arrive_and_wait();
  }
}

}  // namespace weir::real
