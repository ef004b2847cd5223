// How fast the connections of a lane send together, where that is more than a kernel paces well.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "core/base/units.h"

namespace weir::real {

/// Lets bytes leave at a rate, however late it is asked: up to two milliseconds' worth, or two chunks, that
/// could have left before may follow at once. Who got none has its turn before those that ask after it: a
/// chunk is kept for it. Else connections would starve behind one whose thread is always a little sooner. Any
/// thread.
class Pace {
 public:
  /// Who asks: any address of its own.
  using Asker = const void*;

  explicit Pace(BytesPerSecond rate);

  /// How many bytes, of `most`, may leave now; they count as having left. None if less than a chunk may, so
  /// that few calls move many bytes.
  std::size_t take(Asker asker, std::size_t most, Instant now);
  /// Of those taken, some have not left after all.
  void give_back(std::size_t bytes);
  /// When a chunk of the asker's may leave at the earliest: if those before it take one each.
  Instant next(Asker asker, Instant now) const;

 private:
  double kept_before(Asker asker) const;

  double rate_;   // bytes a nanosecond
  double most_;   // bytes that may leave at once
  double chunk_;  // bytes
  mutable std::mutex mutex_;
  double ready_;  // bytes that may leave, as of `then_`
  Instant then_;  // of the last take()
  std::vector<Asker> waiting_;
};

}  // namespace weir::real
