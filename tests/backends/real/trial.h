// Runs that several tests make in the world of threads: the conformance suite's, and large messages.
#pragma once

#include "tests/backends/real/world.h"
#include "tests/conformance/port_conformance.h"

namespace weir::real {

/// Runs it so. What lies on GPUs is filled and looked at through copies.
Result<Record> run_trial(const conformance::Trial& trial, ThreadWorld::Settings settings);

/// That nodes joined so keep the contract of ports, clause by clause.
void check_contract(const ThreadWorld::Settings& how);

/// That a message of so many bytes arrives whole, and one of a few bytes behind it. Says so where the host
/// has no memory for it.
void check_large(Bytes large, const ThreadWorld::Settings& settings);

}  // namespace weir::real
