// The rates that this host gives the machines of a cluster, measured just before it runs a job for them: what
// real runs are judged by, and foretold from.
#pragma once

#include <optional>
#include <vector>

#include "backends/real/lab/lab.h"
#include "backends/real/lab/raw_rate.h"
#include "core/base/result.h"
#include "studies/run/trial.h"

namespace weir {

struct Measured {
  BytesPerSecond link;  // that plain connections moved, all machines sending and receiving at once; the least
  Topology topology;    // the planned one with the rates that were measured
};

/// What each flow would move while all do, if NICs and uplinks had the cluster's rates and shared them
/// max-min fairly; 0 if nothing on its way bounds it.
std::vector<double> nominal_rates(const Cluster& cluster, const std::vector<real::RawFlow>& flows);

/// The topology with NICs and the uplinks that it states so much faster; uplinks that it gives as an
/// oversubscription follow the NICs.
Topology scaled(const Topology& topology, double factor);

/// In a lab: NICs and uplinks are as much slower or faster than the topology has them as connections between
/// neighbours were, each sending to the next; and sums are what all `workers` threads of all machines reach
/// at once. None if the lab does not shape the links, or has one machine. Takes two seconds.
Result<std::optional<Measured>> measure_lab(real::Lab& lab, const Planned& planned, int workers);

/// The same of processes of this host that talk over its loopback interface, which has no latency and no
/// racks. Takes half a second.
Result<std::optional<Measured>> measure_host(const Planned& planned, int workers);

/// The measured topology with NICs and uplinks no faster than a run that is paced so lets them be.
Topology paced(const Topology& measured, const Planned& planned, double pace);

}  // namespace weir
