#include "backends/real/lab/shaping.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/real/lab/wiring.h"

namespace weir::real {
namespace {

constexpr std::int64_t kEthernet = 14;
constexpr std::int64_t kIpAndTcp = 40;            // without timestamps
constexpr std::int64_t kAcknowledgements = 1000;  // one part in so many of the rate, for the other direction

// How much may leave at once. A message after a pause gains this much on the link. It makes up for late
// timers: a quarter of a millisecond is usual on a busy machine.
constexpr std::int64_t kBurstsPerSecond = 4000;
constexpr Bytes kLeastBurst = Bytes(16 << 10);

// The kernel passes on up to 64 KiB of a connection in one piece. Smaller pieces would follow a link's rate
// more closely, but overrun the queues between namespaces on a busy machine.
constexpr Bytes kPacket = Bytes(65536);

// A full queue means a wait of 20 ms. Shorter ones lose packets when several machines send to one; longer
// ones delay every small message.
constexpr std::int64_t kQueuesPerSecond = 50;

// Acknowledgements and small messages (IP packets below 256 bytes) go first, with this guaranteed rate. If
// they waited behind data, a link that is busy both ways would lose a tenth of each direction.
constexpr std::int64_t kUrgentShare = 50;

// `tc` reads numbers of queues as hexadecimal. These decimal ones all have the same number of digits, so they
// differ there too.
constexpr std::size_t kFirstSource = 1000;

Bytes in(BytesPerSecond rate, std::int64_t times_per_second) {
  return Bytes(rate.value() / times_per_second);
}

}  // namespace

BytesPerSecond wire_rate(BytesPerSecond goodput) {
  const std::int64_t headers = kMtu.count() + kEthernet;
  const Wide packets = static_cast<Wide>(goodput.value()) * headers / (kMtu.count() - kIpAndTcp);
  return BytesPerSecond(static_cast<std::int64_t>(packets + packets / kAcknowledgements));
}

Bytes longest_queue(BytesPerSecond goodput) {
  return std::max(kLeastQueue, in(wire_rate(goodput), kQueuesPerSecond));
}

std::string shaping(const std::string& interface, BytesPerSecond goodput, std::size_t sources) {
  if (!goodput.limited()) return "";
  const BytesPerSecond rate = wire_rate(goodput);
  const BytesPerSecond urgent = rate / kUrgentShare;
  const std::string burst =
      fmt::format("burst {0}b cburst {0}b quantum {1}",
                  std::max(kLeastBurst, in(rate, kBurstsPerSecond)).count(), kPacket.count());
  const Bytes queue = longest_queue(goodput);
  const BytesPerSecond rest = BytesPerSecond(rate.value() - urgent.value());
  std::string text = fmt::format(
      "qdisc add dev {0} root handle 1: htb default 10\n"
      "class add dev {0} parent 1: classid 1:1 htb rate {1}bps ceil {1}bps {2}\n"
      "class add dev {0} parent 1:1 classid 1:20 htb rate {3}bps ceil {1}bps prio 0 {2}\n"
      "qdisc add dev {0} parent 1:20 handle 20: bfifo limit {4}b\n"
      "filter add dev {0} parent 1: protocol ip prio 1 u32 match u16 0 0xff00 at 2 flowid 1:20\n",
      interface, rate.value(), burst, urgent.value(), queue.count());
  const auto serve = [&](std::size_t number, std::size_t among) {
    text += fmt::format(
        "class add dev {0} parent 1:1 classid 1:{1} htb rate {2}bps ceil {3}bps prio 1 {4}\n"
        "qdisc add dev {0} parent 1:{1} handle {1}: bfifo limit {5}b\n",
        interface, number, rest.value() / static_cast<std::int64_t>(among), rate.value(), burst,
        queue.count());
  };
  serve(10, sources + 1);
  for (std::size_t machine = 0; machine < sources; ++machine) {
    const std::size_t number = kFirstSource + machine;
    serve(number, sources + 1);
    text += fmt::format(
        "filter add dev {} parent 1: protocol ip prio 2 u32 match u16 {:#06x} 0xffff at 14 flowid 1:{}\n",
        interface, lab_host(machine), number);
  }
  return text;
}

}  // namespace weir::real
