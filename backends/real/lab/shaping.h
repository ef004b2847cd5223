// How a link's rate becomes a queue of the kernel's: HTB lets bytes through at the link's rate, and a short
// queue in bytes stands before it. One place, so that all links of a lab (lab.h) mean the same by "500Mbps".
#pragma once

#include <string>

#include "core/base/units.h"

namespace weir::real {

/// The MTU of every interface in a lab, as in data centres: few headers, and messages still interleave.
constexpr Bytes kMtu = Bytes(9000);

/// What the wire must carry so that one TCP connection moves `goodput` of its user's bytes while another one
/// moves as much the other way: headers of Ethernet, IP and TCP, and acknowledgements. `goodput` is limited.
BytesPerSecond wire_rate(BytesPerSecond goodput);

/// How many bytes wait before a link at most: those of 20 ms, or kLeastQueue. `goodput` is limited.
constexpr Bytes kLeastQueue = Bytes(512 << 10);
Bytes longest_queue(BytesPerSecond goodput);

/// Lines for `tc -batch` that shape what leaves through the interface; none if the rate is unlimited. What
/// comes from the first `sources` machines has a queue for each, which are served in turn; 0 is one queue for
/// all. `sources` is at most kMostSources.
constexpr std::size_t kMostSources = 64;
std::string shaping(const std::string& interface, BytesPerSecond goodput, std::size_t sources = 0);

}  // namespace weir::real
