#include "backends/real/lab/readiness.h"

#include "backends/real/lab/cpu_shares.h"
#include "backends/real/lab/lab.h"
#include "backends/real/process/clock.h"
#include "core/cluster/topology.h"

namespace weir::real {
namespace {

using namespace weir::literals;

Cluster two_machines() {
  GroupSpec group;
  group.name = "cpu";
  group.count = 2;
  NicSpec nic;
  nic.at = "numa0";
  nic.rate = {1_Gbps, 1_Gbps};
  group.nics.push_back(nic);
  Topology topology;
  topology.name = "try";
  topology.groups.push_back(group);
  return Cluster(topology);
}

Result<void> try_shares(const Cluster& cluster) {
  auto shares = share_cpus(cluster);
  if (!shares) return tl::unexpected(shares.error());
  if (!relieve(shares->guard, kSharesPatience)) return failure(shares->folder + " cannot be removed");
  return {};
}

}  // namespace

LabReadiness try_lab() {
  const Cluster cluster = two_machines();
  LabReadiness readiness;
  readiness.shares = try_shares(cluster);
  const Instant begin = Clock::monotonic();
  auto lab = Lab::up(cluster);
  if (!lab) readiness.lab = tl::unexpected(lab.error());
  if (lab) lab->reset();
  readiness.took = Clock::monotonic() - begin;
  return readiness;
}

}  // namespace weir::real
