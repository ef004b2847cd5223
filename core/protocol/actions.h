// What protocols of jobs and sessions alike ask of their drivers.
#pragma once

#include <string>

#include "core/protocol/note.h"

namespace weir {

struct SendNote {
  Note note;
};
/// From now on, report to this connection every kHeartbeat that the process is alive. Members have only one
/// connection, which has no name.
struct KeepAlive {
  std::string connection;
};
/// The process has nothing more to say, and nobody to say it to: drop what has not been sent.
struct DropUnsent {};

}  // namespace weir
