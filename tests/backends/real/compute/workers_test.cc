#include "backends/real/compute/workers.h"

#include <array>
#include <future>

#include "backends/real/process/threads.h"
#include "tests/catch.h"

namespace weir::real {
namespace {

TEST_CASE("a thread takes ops of its own NUMA node first, and leaves no op undone") {
  const int here = numa_nodes().front();
  std::array<Op, 4> ops;
  for (std::size_t i = 0; i < ops.size(); ++i) ops[i].id = OpId(i);
  const std::array<int, 4> homes = {here, here + 1, here, here + 1};

  std::promise<void> all_are_put;
  Inbox inbox;
  std::vector<std::size_t> done;
  {
    Workers workers(
        1,
        [&, put = all_are_put.get_future().share()](const Op& op, std::uint64_t) {
          put.wait();
          done.push_back(op.id.index());
        },
        inbox, [&](const Op& op) { return homes[op.id.index()]; });
    for (const Op& op : ops) workers.put(op, 0);
    all_are_put.set_value();
    std::vector<Event> events;
    while (events.size() < ops.size() && inbox.wait(Duration(10'000'000'000))) inbox.take(events);
    CHECK(events.size() == ops.size());
  }
  // The thread may have taken the first op before the others were put.
  CHECK((done == std::vector<std::size_t>{0, 2, 1, 3}));
}

}  // namespace
}  // namespace weir::real
