// The process that holds a lab. It makes and wires the namespaces, and is the first process of the lab's
// process namespace, so that all others die with it. It ends with the process that wanted the lab, however
// that one ends, or on request.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "backends/real/lab/cpu_shares.h"
#include "backends/real/lab/namespaces.h"
#include "backends/real/lab/wiring.h"
#include "core/base/result.h"

namespace weir::real {

struct Held {
  pid_t process = -1;  // a child of this process
  Namespaces namespaces;
};

/// Makes and wires the network and holds it until this process ends or kills the holder. Until then the
/// holder keeps the guard of the CPU shares waiting, if there are any.
Result<Held> hold(const Wiring& wiring, std::size_t machines, const CpuShares* shares);

/// The same, but holds it until a request at the listening socket ends it. There the holder answers each
/// ask() with the fingerprint of its wiring.
Result<Held> hold_for_all(const Wiring& wiring, std::size_t machines, std::uint64_t fingerprint,
                          const CpuShares* shares, const Descriptor& listener);

/// Makes a process namespace for this process in a lab that another process holds. It ends with either
/// process.
Result<Held> hold_beside(Namespaces kept);

/// A request to a holder that listens.
enum class Request { kJoin, kEnd };

/// The file number of the machine's network in a holder of so many machines.
constexpr int network_file(std::size_t machines, std::size_t machine) {
  return Wiring::kFirstFile + static_cast<int>(machines + machine);
}

struct Kept {
  std::uint64_t wiring = 0;  // fingerprint of the lab's wiring
  Namespaces namespaces;
};

/// The holder's namespaces, once it has wired them. After kEnd its process, whose handle is among them, is
/// about to end.
Result<Kept> ask(const Descriptor& socket, Request request);

}  // namespace weir::real
