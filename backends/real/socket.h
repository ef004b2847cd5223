// TCP sockets: addresses, listening, connecting.
#pragma once

#include <cstdint>
#include <string>

#include "backends/real/descriptor.h"
#include "core/base/result.h"
#include "core/base/units.h"

namespace weir::real {

/// Where a node listens. A value.
struct Address {
  std::string host;  // a name, or an IPv4 or IPv6 address
  std::uint16_t port = 0;
  friend bool operator==(const Address&, const Address&) = default;
};

/// "10.0.0.3:4711", "[::1]:4711".
std::string text(const Address& address);

/// A socket that listens at the address; port 0 takes a free one.
Result<Descriptor> listen_at(const Address& address);
/// Where the socket listens.
Address listening_at(const Descriptor& socket);

/// The next connection that a listening socket has, ready for transport (below); none if there is none yet.
Descriptor accept_one(const Descriptor& listener);
/// A connection to the address, ready for transport. Waits at most that long.
Result<Descriptor> connect_to(const Address& address, Duration patience);

/// What the error number says.
std::string reason(int error_number);

}  // namespace weir::real
