// Sends text and open files to another process over a local socket that preserves messages (SOCK_SEQPACKET).
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

/// Sends the text and handles of the files, which also stay open here. Waits up to the deadline.
Result<void> send(int socket, const std::string& text, const std::vector<int>& files, Duration patience);

/// The next message; its files are closed on exec. Fails if the other end is gone, or sends nothing in this
/// time.
Result<Message> receive(int socket, Duration patience);

/// Waits until the file can be read or, for a process (pidfd), has ended. False after the time is over.
bool readable(int file, Duration patience);

}  // namespace weir::real
