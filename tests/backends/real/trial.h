// Runs in the world of threads that several tests share: those of the conformance suite, and large messages.
#pragma once

#include "tests/backends/real/world.h"
#include "tests/conformance/port_conformance.h"

namespace weir::real {

/// Runs the trial with these settings. Data on GPUs is written and read through copies.
Result<Record> run_trial(const conformance::Trial& trial, ThreadWorld::Settings settings);

/// Checks that nodes joined in this way keep the contract of ports, clause by clause.
void check_contract(const ThreadWorld::Settings& how);

/// Checks that a message of this size arrives whole, and a message of a few bytes after it. Prints a warning
/// if the host has too little memory.
void check_large(Bytes large, const ThreadWorld::Settings& settings);

}  // namespace weir::real
