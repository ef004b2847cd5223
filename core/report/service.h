// When ops were served and how full links were at that time. Timelines draw this. It is computed from the
// record of a run.
#pragma once

#include <vector>

#include "core/cluster/cluster.h"
#include "core/hardware/work.h"
#include "core/plan/plan.h"
#include "core/run/record.h"

namespace weir {

/// An op of one iteration, from its turn until its resource or channel was free for the next. A message's
/// turn may come long after it started: its start is when the window of its NIC was charged.
struct Service {
  const Op* op;
  int iteration;
  Instant begin;
  Instant end;
};

/// Something that serves one op after another: a device, or the channel of messages from one NIC to another.
struct Server {
  Resource resource;
  const Op* message = nullptr;    // for a channel: one of its sends
  std::vector<Service> services;  // of all iterations, in order, without those that take no time
};

/// Ordered by machine, then resource, then (for channels) the machine and NIC that they lead to.
std::vector<Server> servers(const Plan& plan, const WorkTable& works, const Record& record);

/// How full a link is from an instant on; 1 is its full rate.
struct LinkStep {
  Instant from;
  double use;
};

/// The use of each link, from the mean rate of each service's flow. (A flow's rate varies as others come and
/// go, but records do not say how.) So bytes are right over the whole time of a flow, while use may exceed 1
/// within it. Messages flow after their overhead. Links that carry nothing have no steps; the steps of others
/// end with 0.
std::vector<std::vector<LinkStep>> link_use(const std::vector<Server>& servers, const Cluster& cluster,
                                            const WorkTable& works, Duration message_overhead);

}  // namespace weir
