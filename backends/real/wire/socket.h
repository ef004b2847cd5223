// Sockets of TCP and of this host: addresses, listening, connecting.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>

#include "backends/real/process/descriptor.h"
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

/// Fails unless others can find this host there: not at '@' and a name, at nothing, or at an address that
/// stands for all of a host's ("0.0.0.0", "::"). Looks no name up.
Result<void> check_reachable(const std::string& host);

/// The address with its host as a number: of a name the first that the system's resolver knows.
Result<Address> numeric(const Address& address);
/// The address of this host that the way to another one leaves from.
Result<std::string> address_towards(const Address& other);

/// A socket that listens at the address; port 0 takes a free one. A name is looked up as for connect_to().
Result<Descriptor> listen_at(const Address& address);
/// The address at which processes of this host find each other: 127.0.0.1, or ::1 if the host has no IPv4.
std::string loopback();
/// Where the socket of TCP listens.
Address listening_at(const Descriptor& socket);

/// The next connection that a listening socket has, ready for transport (below); none if there is none yet,
/// or if the system has no room for it, as errno tells.
Descriptor accept_one(const Descriptor& listener);

struct Connecting {
  std::string from;                     // the address of the NIC of this host to connect from; empty: any
  std::function<Result<void>()> watch;  // called some ten times a second; what it fails with ends the wait
};

/// A connection to the address, ready for transport. Waits at most that long once it knows where the host is:
/// a name is looked up before, as the system's resolver does (some 5 s a server and try unless its settings
/// say otherwise), an address is not.
Result<Descriptor> connect_to(const Address& address, Duration patience, const Connecting& how = {});

/// What a system call that sends or receives has come to: bytes moved, 0 if none can be moved now. Fails if
/// the connection is lost.
Result<std::size_t> bytes_sent(ssize_t result);
Result<std::size_t> bytes_received(ssize_t result);

/// What the error number says.
std::string reason(int error_number);

}  // namespace weir::real
