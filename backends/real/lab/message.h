// Text and open files from one process to another over a local socket that keeps messages apart
// (SOCK_SEQPACKET).
#pragma once

#include <string>
#include <vector>

#include "backends/real/process/descriptor.h"
#include "core/base/result.h"
#include "core/base/units.h"

namespace weir::real {

struct Message {
  std::string text;  // 64 KiB at most; longer ones are cut
  std::vector<Descriptor> files;
};

/// Sends the text and handles of the files, which stay open here too. Waits up to the deadline's span.
Result<void> send(int socket, const std::string& text, const std::vector<int>& files, Duration patience);

/// The next message, files closed on exec. Fails if the other end has gone or says nothing for so long.
Result<Message> receive(int socket, Duration patience);

/// Waits until the file can be read or, of a process's (pidfd), the process has ended; false after so long.
bool readable(int file, Duration patience);

}  // namespace weir::real
