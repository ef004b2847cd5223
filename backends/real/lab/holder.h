// The process that holds a lab: it makes the namespaces, wires them, and is the first process of the lab's,
// with which all others die. It ends with the process that wanted the lab, however that one ends, or when
// told to.
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

/// Makes and wires the network, held until this process ends or kills the holder. The holder keeps the guard
/// of the CPU shares, if there are any, waiting until then.
Result<Held> hold(const Wiring& wiring, std::size_t machines, const CpuShares* shares);

/// The same, but held until somebody asks for its end at the listening socket, where it tells all who ask()
/// the fingerprint of what it is wired as.
Result<Held> hold_for_all(const Wiring& wiring, std::size_t machines, std::uint64_t fingerprint,
                          const CpuShares* shares, const Descriptor& listener);

/// A process namespace of this process's own in a lab that another process holds: it ends with either of
/// them.
Result<Held> hold_beside(Namespaces kept);

/// What one can say to a holder that listens.
enum class Request { kJoin, kEnd };

/// The number under which the holder of so many machines has the network of one of them open.
constexpr int network_file(std::size_t machines, std::size_t machine) {
  return Wiring::kFirstFile + static_cast<int>(machines + machine);
}

struct Kept {
  std::uint64_t wiring = 0;  // its fingerprint
  Namespaces namespaces;
};

/// The holder's namespaces, once it has wired them. With kEnd its process, whose handle is among them, is
/// about to end.
Result<Kept> ask(const Descriptor& socket, Request request);

}  // namespace weir::real
