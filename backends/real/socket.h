// Sockets of TCP and of this host: addresses, listening, connecting.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "backends/real/descriptor.h"
#include "core/base/result.h"
#include "core/base/units.h"

namespace weir::real {

/// Where a node listens. A value.
struct Address {
  std::string host;        // a name, or an IPv4 or IPv6 address; or '@' and a name that this host alone knows
  std::uint16_t port = 0;  // none of a name of this host
  friend bool operator==(const Address&, const Address&) = default;
};

/// "10.0.0.3:4711", "[::1]:4711", "@weir-4f2a".
std::string text(const Address& address);

/// Whether only processes of this host, and of the same network namespace, can connect to it. It is a name in
/// Linux's abstract namespace: there is no file, so nothing is left of it however a process ends.
bool is_local(const Address& address);

/// A socket that listens at the address; port 0 takes a free one.
Result<Descriptor> listen_at(const Address& address);
/// Where the socket of TCP listens.
Address listening_at(const Descriptor& socket);

/// The next connection that a listening socket has, ready for transport (below); none if there is none yet.
Descriptor accept_one(const Descriptor& listener);
/// A connection to the address, ready for transport; from the address of one of this host's NICs, if not
/// empty. Waits at most that long.
Result<Descriptor> connect_to(const Address& address, Duration patience, const std::string& from = {});

/// What a system call that sends or receives has come to: bytes moved, 0 if none can be moved now. Fails if
/// the connection is lost.
Result<std::size_t> bytes_sent(ssize_t result);
Result<std::size_t> bytes_received(ssize_t result);

/// What the error number says.
std::string reason(int error_number);

}  // namespace weir::real
