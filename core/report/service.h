// When ops were served and how full links were meanwhile: what timelines draw, taken from the record of a
// run.
#pragma once

#include <vector>

#include "core/cluster/cluster.h"
#include "core/hardware/work.h"
#include "core/plan/plan.h"
#include "core/run/record.h"

namespace weir {

/// An op of one iteration, from its turn to when its resource or channel was free for the next. A message's
/// turn may be long after it started, that is was charged to the window of its NIC.
struct Service {
  const Op* op;
  int iteration;
  Instant begin;
  Instant end;
};

/// What served ops one after the other: a device, or the channel of messages from one NIC to another.
struct Server {
  Resource resource;
  const Op* message = nullptr;    // of a channel: one of its sends
  std::vector<Service> services;  // of all iterations, in order; those that take no time are left out
};

/// By machine, resource, and of channels the machine and NIC that they lead to.
std::vector<Server> servers(const Plan& plan, const WorkTable& works, const Record& record);

/// How full a link is from an instant on: 1 is its rate.
struct LinkStep {
  Instant from;
  double use;
};

/// For each link, each of the services' flows at its mean rate (a flow's rate varies as others come and go;
/// records do not tell how). So bytes are right over the time of a flow, and use may exceed 1 within it.
/// Messages flow once their overhead is over. Links that carry nothing have no steps; others end with 0.
std::vector<std::vector<LinkStep>> link_use(const std::vector<Server>& servers, const Cluster& cluster,
                                            const WorkTable& works, Duration message_overhead);

}  // namespace weir
