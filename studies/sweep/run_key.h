// The key under which a sweep keeps the result of a run: a hash of all that the result depends on.
#pragma once

#include <string>

#include "core/experiment/run_inputs.h"
#include "studies/run/trial.h"

namespace weir {

/// What of this program can change results: its version, the hash of its file, as a checkout's version says
/// nothing of what is being changed in it, and the file of SimGrid's library if that is loaded.
Result<std::string> program_identity();

/// 32 hexadecimal digits: BLAKE2b of the inputs, the program, and the world's name and settings.
std::string run_key(const RunInputs& inputs, const std::string& contender, std::uint64_t seed,
                    const std::string& program, const World& world);

}  // namespace weir
