// Which part of a sweep this process takes, as the engine that started it says in its environment.
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

/// What is given as "1/3" or "1 of 3", counted from 1, if it is not empty; or else the rank and the number of
/// processes that Open MPI, Hydra (MPICH, Intel MPI) or srun tell, within the task of a Slurm job array if
/// this is one; or else all of it. Fails if a number that is told makes no sense.
Result<Share> share_of(const Environment& environment, const std::string& given);

/// Of so many things, known by their keys, those that a share takes, ascending. All shares of one count are
/// of the same size but for one, know nothing of each other, and miss nothing. Keys are hashes, so that
/// large points, which lie together in a design, are spread.
std::vector<std::size_t> taken(const Share& share, const std::vector<std::string>& keys);

}  // namespace weir
