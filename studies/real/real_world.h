// The real world: every machine of the cluster is a process, and bytes move.
#pragma once

#include "studies/real/real_job.h"
#include "studies/run/trial.h"

namespace weir {

/// Runs plans on processes of this program that talk over the loopback interface or share memory. Before each
/// run over the loopback interface, its rate is measured while all machines send and receive.
World local_world(const RealSettings& settings);

/// The same in a lab (backends/real/lab/lab.h), whose links are shaped to the topology's rates. Before each
/// run the rate of plain connections is measured there, while all machines send and receive. Runs are paced
/// unless the settings say otherwise, because in a lab links have the topology's rates.
World lab_world(const RealSettings& settings);

/// The same on the hosts of a cluster, reached by a remote shell, or on any nodes that join with the key.
World cluster_world(const RealSettings& settings);

}  // namespace weir
