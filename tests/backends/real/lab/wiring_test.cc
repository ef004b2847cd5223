#include "backends/real/lab/wiring.h"

#include <fmt/format.h>

#include "core/cluster/topology.h"
#include "tests/catch.h"

using namespace weir;

namespace {

GroupSpec machines(int count, const std::vector<Rates>& nics) {
  GroupSpec group;
  group.name = "gpu";
  group.count = count;
  for (const Rates& rate : nics) {
    NicSpec nic;
    nic.at = "numa0";
    nic.rate = rate;
    group.nics.push_back(nic);
  }
  return group;
}

Topology topology(GroupSpec group) {
  Topology made;
  made.name = "test";
  made.groups = {std::move(group)};
  return made;
}

Rates both(BytesPerSecond rate) { return {rate, rate}; }

std::string text(const Topology& topology) { return real::wiring(Cluster(topology))->text(); }

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("Two machines are two links that meet in the core, each shaped at both ends") {
  const std::string shaped =
      "qdisc add dev {0} root handle 1: htb default 10\n"
      "class add dev {0} parent 1: classid 1:1 htb rate {1}bps ceil {1}bps {3}\n"
      "class add dev {0} parent 1:1 classid 1:20 htb rate {2}bps ceil {1}bps prio 0 {3}\n"
      "qdisc add dev {0} parent 1:20 handle 20: bfifo limit {4}b\n"
      "filter add dev {0} parent 1: protocol ip prio 1 u32 match u16 0 0xff00 at 2 flowid 1:20\n";
  const std::string queue =
      "class add dev {0} parent 1:1 classid 1:{5} htb rate {2}bps ceil {1}bps prio 1 {3}\n"
      "qdisc add dev {0} parent 1:{5} handle {5}: bfifo limit {4}b\n";
  const std::string source =
      "filter add dev {0} parent 1: protocol ip prio 2 u32 match u16 {1} 0xffff at 14 flowid 1:{2}\n";
  // A machine has one outgoing queue. It has an incoming queue for each machine, and one for everything else.
  const auto lines = [&](const std::string& where, const std::string& device, bool out) {
    const auto put = [&](const std::string& text, std::int64_t rate, int number) {
      const std::string burst = fmt::format("burst {0}b cburst {0}b quantum 65536", out ? 31469 : 16384);
      return fmt::format(fmt::runtime(text), device, out ? 125879101 : 62939550, rate, burst,
                         out ? 2517582 : 1258791, number);
    };
    std::string all = put(shaped, out ? 2517582 : 1258791, 0) + put(queue, out ? 123361519 : 20560253, 10);
    for (int machine = 0; machine < 2 && !out; ++machine) {
      all += put(queue, 20560253, 1000 + machine) +
             fmt::format(fmt::runtime(source), device, fmt::format("{:#06x}", machine + 1), 1000 + machine);
    }
    std::string with;
    for (std::size_t from = 0; from < all.size(); from = all.find('\n', from) + 1)
      with += where + ": tc " + all.substr(from, all.find('\n', from) - from) + "\n";
    return with;
  };
  const std::string expected =
      "switch: ip link set lo up\n"
      "switch: ip link add core mtu 9000 type bridge\n"
      "switch: ip link set core up\n"
      "switch: ip link add m0n0 mtu 9000 type veth peer name eth0 mtu 9000 netns /proc/self/fd/100\n"
      "switch: ip link set m0n0 master core\n"
      "switch: ip link set m0n0 up\n"
      "switch: ip link add m1n0 mtu 9000 type veth peer name eth0 mtu 9000 netns /proc/self/fd/101\n"
      "switch: ip link set m1n0 master core\n"
      "switch: ip link set m1n0 up\n" +
      lines("switch", "m0n0", false) + lines("switch", "m1n0", false) +
      "switch: steer m0n0\n"
      "switch: steer m1n0\n"
      "machine 0: ip link set lo up\n"
      "machine 0: ip link set eth0 up\n"
      "machine 0: ip address add 10.0.0.1/8 dev eth0 noprefixroute\n"
      "machine 0: ip route replace 10.0.0.0/8 dev eth0 src 10.0.0.1 rto_min 50ms initcwnd 20 congctl reno\n" +
      lines("machine 0", "eth0", true) +
      "machine 0: sysctl net/ipv4/tcp_rmem=4096 1258791 67108864\n"
      "machine 0: sysctl net/ipv4/tcp_timestamps=0\n"
      "machine 0: steer eth0\n" +
      "machine 1: ip link set lo up\n"
      "machine 1: ip link set eth0 up\n"
      "machine 1: ip address add 10.0.0.2/8 dev eth0 noprefixroute\n"
      "machine 1: ip route replace 10.0.0.0/8 dev eth0 src 10.0.0.2 rto_min 50ms initcwnd 20 congctl reno\n" +
      lines("machine 1", "eth0", true) +
      "machine 1: sysctl net/ipv4/tcp_rmem=4096 1258791 67108864\n"
      "machine 1: sysctl net/ipv4/tcp_timestamps=0\n"
      "machine 1: steer eth0\n";
  // 1 Gbps out of a machine, 0.5 Gbps into it.
  CHECK(text(topology(machines(2, {{BytesPerSecond(62'500'000), 1_Gbps}}))) == expected);
}

TEST_CASE("The wire carries headers and acknowledgements beside the goodput") {
  const double more =
      static_cast<double>(real::wire_rate(1_Gbps).value()) / static_cast<double>((1_Gbps).value());
  CHECK(more == Approx(9014.0 / 8960 * 1.001).epsilon(1e-6));
}

TEST_CASE("Unlimited rates are not shaped") {
  CHECK(real::shaping("eth0", BytesPerSecond::unlimited()).empty());
  CHECK(count(text(topology(machines(2, {both(BytesPerSecond::unlimited())}))), ": tc ") == 0);
}

TEST_CASE("A rack is a bridge behind a shaped uplink") {
  Topology racks = topology(machines(4, {both(1_Gbps)}));
  racks.network.racks = RacksSpec{};
  racks.network.racks->size = 2;
  racks.network.racks->oversubscription = 4;
  const std::string wired = text(racks);
  CHECK_THAT(wired, has_text("ip link add up1 mtu 9000 type veth peer name down1 mtu 9000\n"));
  CHECK_THAT(wired, has_text("ip link set m1n0 master rack0\n"));
  CHECK_THAT(wired, has_text("switch: steer up0\nswitch: steer down0\n"));
  CHECK_THAT(wired, has_text("ip link set m2n0 master rack1\n"));
  const std::int64_t half = real::wire_rate(BytesPerSecond(62'500'000)).value();
  CHECK_THAT(wired, has_text(fmt::format("dev up0 parent 1: classid 1:1 htb rate {}bps", half)));
  CHECK_THAT(wired, has_text(fmt::format("dev down0 parent 1: classid 1:1 htb rate {}bps", half)));
}

TEST_CASE("Racks with unlimited rates are one switch") {
  Topology racks = topology(machines(4, {both(1_Gbps)}));
  racks.network.racks = RacksSpec{};
  racks.network.racks->size = 2;
  racks.network.racks->uplink = both(BytesPerSecond::unlimited());
  CHECK(text(racks) == text(topology(machines(4, {both(1_Gbps)}))));
}

TEST_CASE("Each of several NICs uses its own address") {
  const std::string wired = text(topology(machines(2, {both(1_Gbps), both(10_Gbps)})));
  CHECK_THAT(wired, has_text("machine 1: sysctl net/ipv4/conf/all/arp_ignore=1\n"));
  CHECK_THAT(wired, has_text("machine 1: ip address add 10.1.0.2/8 dev eth1 noprefixroute\n"));
  CHECK_THAT(wired, has_text("machine 1: ip route replace 10.1.0.0/16 dev eth1 src 10.1.0.2"));
  CHECK_THAT(wired, has_text("machine 1: ip rule add from 10.1.0.2 table 101\n"));
}

TEST_CASE("Batches that only keep packets in order may fail") {
  const auto wired = real::wiring(Cluster(topology(machines(2, {both(1_Gbps), both(10_Gbps)}))));
  REQUIRE(wired);
  CHECK_THAT(wired->text(), has_text("machine 1: sysctl net/ipv4/tcp_rmem=4096 25175820 67108864\n"));
  CHECK_THAT(text(topology(machines(2, {both(1_Gbps)}))),
             has_text("sysctl net/ipv4/tcp_rmem=4096 2517582 67108864\n"));
  const std::string slow = text(topology(machines(2, {both(BytesPerSecond(6'250'000))})));
  CHECK_THAT(slow, !has_text("tcp_rmem"));
  CHECK_THAT(slow, has_text("machine 0: sysctl net/ipv4/tcp_timestamps=0\n"));
  CHECK_THAT(wired->text(), has_text("switch: steer m1n0\n"));
  CHECK_THAT(wired->text(), has_text("machine 0: steer eth1\n"));
  for (const real::Wiring::Batch& batch : wired->batches) {
    CAPTURE(batch.tool, batch.lines);
    const bool wish = batch.tool == "steer" || batch.lines.find("/ipv4/tcp_") != std::string::npos;
    CHECK(batch.needed != wish);
  }
}

TEST_CASE("Machines whose number exceeds a byte have addresses of their own") {
  CHECK(real::lab_address(MachineId(249), 0) == "10.0.0.250");
  CHECK(real::lab_address(MachineId(250), 3) == "10.3.1.1");
}

TEST_CASE("A machine without a NIC cannot be in a lab") {
  const auto wired = real::wiring(Cluster(topology(machines(1, {}))));
  REQUIRE_FALSE(wired);
  CHECK_THAT(wired.error().text, has_text("gpu[0] of test has no NIC"));
}

TEST_CASE("A lab cannot hold a thousand machines") {
  const auto wired = real::wiring(Cluster(topology(machines(1000, {both(1_Gbps)}))));
  REQUIRE_FALSE(wired);
  CHECK_THAT(wired.error().text, has_text("a lab holds at most 500"));
}
