#include "backends/real/lab/shaping.h"

#include <fmt/format.h>

#include <algorithm>

namespace weir::real {
namespace {

constexpr std::int64_t kEthernet = 14;
constexpr std::int64_t kIpAndTcp = 52;            // with timestamps
constexpr std::int64_t kAcknowledgements = 1000;  // one part in so many goes to those of the other direction

// The kernel passes on up to 64 KiB of a connection at once, which its bursts must hold. A burst makes up for
// a timer that comes late: half a millisecond is what a busy machine needs; more would let small messages
// through faster than the link.
constexpr Bytes kLeastBurst = Bytes(64 * 1024);
constexpr std::int64_t kBurstsPerSecond = 2000;

// A full queue means a wait of 20 ms. Shorter ones lose packets when several machines send to one; longer
// ones make every small message wait.
constexpr std::int64_t kQueuesPerSecond = 50;
constexpr Bytes kLeastQueue = Bytes(512 * 1024);

Bytes in(BytesPerSecond rate, std::int64_t times_per_second) {
  return Bytes(rate.value() / times_per_second);
}

}  // namespace

BytesPerSecond wire_rate(BytesPerSecond goodput) {
  const std::int64_t headers = kMtu.count() + kEthernet;
  const Wide packets = static_cast<Wide>(goodput.value()) * headers / (kMtu.count() - kIpAndTcp);
  return BytesPerSecond(static_cast<std::int64_t>(packets + packets / kAcknowledgements));
}

std::string shaping(const std::string& interface, BytesPerSecond goodput) {
  if (!goodput.limited()) return "";
  const BytesPerSecond rate = wire_rate(goodput);
  const Bytes burst = std::max(kLeastBurst, in(rate, kBurstsPerSecond));
  const Bytes queue = std::max(kLeastQueue, in(rate, kQueuesPerSecond));
  return fmt::format(
      "qdisc add dev {0} root handle 1: htb default 1\n"
      "class add dev {0} parent 1: classid 1:1 htb rate {1}bps ceil {1}bps burst {2}b cburst {2}b quantum "
      "{3}\n"
      "qdisc add dev {0} parent 1:1 handle 10: bfifo limit {4}b\n",
      interface, rate.value(), burst.count(), kLeastBurst.count(), queue.count());
}

}  // namespace weir::real
