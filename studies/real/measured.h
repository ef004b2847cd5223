// The rates that this host gives the machines of a cluster, measured just before it runs a job for them. Real
// runs are judged by these rates and predicted from them.
#pragma once

#include <optional>
#include <vector>

#include "backends/real/lab/lab.h"
#include "backends/real/lab/raw_rate.h"
#include "core/base/result.h"
#include "studies/run/trial.h"

namespace weir {

struct Measured {
  BytesPerSecond link;  // of plain connections while all machines send and receive; the lowest
  Topology topology;    // the planned topology with the measured rates
};

/// The topology with the faster of both rates, wherever rates are measured.
Topology faster(const Topology& a, const Topology& b);
/// How far the links' rates of two measurements lie apart, as a fraction of the lower.
double difference(const Measured& a, const Measured& b);

/// The rate of each flow while all move, if NICs and uplinks had the cluster's rates and shared them max-min
/// fairly; 0 if nothing on its way limits it.
std::vector<double> nominal_rates(const Cluster& cluster, const std::vector<real::RawFlow>& flows);

/// The topology with its NICs and its stated uplinks faster by this factor; uplinks stated as an
/// oversubscription follow the NICs.
Topology scaled(const Topology& topology, double factor);

/// Measures in a lab. NICs and uplinks are scaled by the ratio of measured to planned rates of connections
/// between neighbours, while each machine sends to the next. Sum rates are those of all `workers` threads of
/// all machines at once. None if the lab does not shape the links, or has one machine. Takes two seconds.
Result<std::optional<Measured>> measure_lab(real::Lab& lab, const Planned& planned, int workers);

/// The same for processes of this host that talk over its loopback interface, which has no latency and no
/// racks. Takes half a second.
Result<std::optional<Measured>> measure_host(const Planned& planned, int workers);

/// The measured topology, with NICs and uplinks limited to what a run at this pace allows them.
Topology paced(const Topology& measured, const Planned& planned, double pace);

}  // namespace weir
