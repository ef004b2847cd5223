// How two nodes tell each other something over a connection. Both send and receive at once, as neither may
// wait for the other to begin.
#pragma once

#include "backends/real/wire/meeting.h"

namespace weir::real {

/// One end. A resource of its owner's thread.
class Exchange {
 public:
  Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  virtual ~Exchange() = default;

  /// Blocks until everything has been given and taken. Fails with `late` if that takes longer than `until`,
  /// and if the meeting's watch or one of the steps below fails.
  Result<void> run(int connection, const Meeting& meeting, Instant until, const char* late);

 protected:
  /// Whether more is to be given, or taken.
  virtual bool gives() const = 0;
  virtual bool takes() const = 0;
  /// Move as much as the connection takes, or has, now.
  virtual Result<void> give() = 0;
  virtual Result<void> take() = 0;
};

}  // namespace weir::real
