// How two nodes tell each other something over a connection, both at once, as neither may wait for the other
// to begin.
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

  /// Blocks until all is given and taken. Fails if that is not so by then, saying `late`, or if the meeting's
  /// watch or one of the steps below does.
  Result<void> run(int connection, const Meeting& meeting, Instant until, const char* late);

 protected:
  /// Whether there is more.
  virtual bool gives() const = 0;
  virtual bool takes() const = 0;
  /// As much as the connection takes, or has, now.
  virtual Result<void> give() = 0;
  virtual Result<void> take() = 0;
};

}  // namespace weir::real
