// Turns a link's rate into a kernel queue: HTB limits bytes to the link's rate, and a short byte-limited
// queue waits before it. In one place, so that "500Mbps" means the same for all links of a lab (lab.h).
#pragma once

#include <string>

#include "core/base/units.h"

namespace weir::real {

/// The MTU of every interface in a lab, as in data centres: few headers, and messages still interleave.
constexpr Bytes kMtu = Bytes(9000);

/// The rate on the wire for one TCP connection to move `goodput` of payload while another one moves as much
/// the other way: adds headers of Ethernet, IP and TCP, and acknowledgements. `goodput` must be limited.
BytesPerSecond wire_rate(BytesPerSecond goodput);

/// The largest queue before a link: the bytes of 20 ms, or kLeastQueue. `goodput` must be limited.
constexpr Bytes kLeastQueue = Bytes(512 << 10);
Bytes longest_queue(BytesPerSecond goodput);

/// Lines for `tc -batch` that shape what leaves through the interface; none if the rate is unlimited. Bytes
/// from each of the first `sources` machines (at most kMostSources) have a queue of their own, and the queues
/// take turns. With 0 there is one queue for all.
constexpr std::size_t kMostSources = 64;
std::string shaping(const std::string& interface, BytesPerSecond goodput, std::size_t sources = 0);

}  // namespace weir::real
