// Which part of a sweep this process computes, according to the environment of the launcher that started it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace weir {

/// Invariant: 0 <= index < count.
struct Share {
  int index = 0;
  int count = 1;
  friend bool operator==(const Share&, const Share&) = default;
};

/// "1 of 3", counted from 1.
std::string text(const Share& share);

/// A variable's value; none if it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// The share from `given` ("1/3" or "1 of 3", counted from 1), if that is not empty. Otherwise the rank and
/// number of processes from Open MPI, Hydra (MPICH, Intel MPI) or srun, within the task of a Slurm job array
/// if there is one. Otherwise everything. Fails if a number makes no sense.
Result<Share> share_of(const Environment& environment, const std::string& given);

/// The positions of the keys that a share takes, ascending. All shares of one count differ in size by at most
/// one, need not know each other, and together miss nothing. Keys are hashes, so large points, which are
/// neighbours in a design, are spread over the shares.
std::vector<std::size_t> taken(const Share& share, const std::vector<std::string>& keys);

}  // namespace weir
