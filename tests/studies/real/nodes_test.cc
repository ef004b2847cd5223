#include "studies/real/nodes.h"

#include <sys/wait.h>

#include <cerrno>

#include "core/cluster/topology.h"
#include "tests/catch.h"

namespace weir {
namespace {

TEST_CASE("a machine's process that does not read its key is reported, and ends") {
  Topology topology;
  topology.groups.resize(1);
  topology.groups[0].count = 1;
  const Cluster cluster(topology);
  Nodes nodes(cluster, nullptr);
  const auto started = nodes.start(MachineId(0), {{"sleep", "60"}, {}, std::string(1'000'000, 'x')});
  REQUIRE_FALSE(started);
  CHECK_THAT(started.error().text, has_text("does not read the job's key"));
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
  CHECK(errno == ECHILD);
}

}  // namespace
}  // namespace weir
