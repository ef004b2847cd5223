// The key under which a sweep stores a run's result: a hash of everything that the result depends on.
#pragma once

#include <string>

#include "core/experiment/run_inputs.h"
#include "studies/run/trial.h"

namespace weir {

/// What in this program can change results: its version; the hash of its file, because a version does not
/// reflect uncommitted changes; and the file of SimGrid's library, if loaded.
Result<std::string> program_identity();

/// 32 hexadecimal digits: BLAKE2b of the inputs, the program, and the world's name and settings.
std::string run_key(const RunInputs& inputs, const std::string& contender, std::uint64_t seed,
                    const std::string& program, const World& world);

}  // namespace weir
