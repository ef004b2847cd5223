#include "backends/real/lab/wiring.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace weir::real {
namespace {

constexpr std::size_t kMostMachines = 500;  // each is an open file of the keeper and of the lab's users
constexpr int kMostNics = 64;
constexpr int kMachinesPerByte = 250;
constexpr const char* kOwnAddressOnly =
    "net/ipv4/conf/all/arp_ignore=1\nnet/ipv4/conf/all/arp_announce=2\nnet/ipv4/conf/all/rp_filter=0\n"
    "net/ipv4/conf/default/rp_filter=0\n";
constexpr int kTable = 100;  // the routing table of the first NIC
// Enough for queues of 25 Gbps, which hold 63 MB, as tests showed.
constexpr Bytes kWidestBuffer = Bytes(32 << 20);
constexpr Bytes kGrownBuffer = Bytes(64 << 20);  // the largest that the kernel may make one

std::string port(MachineId machine, std::size_t nic) { return fmt::format("m{}n{}", machine.index(), nic); }

std::string up(const std::string& interface) { return fmt::format("link set {} up\n", interface); }

std::string bridge(const std::string& name) {
  return fmt::format("link add {} mtu {} type bridge\n{}", name, kMtu.count(), up(name));
}

struct Uplink {
  BytesPerSecond up = BytesPerSecond::unlimited();
  BytesPerSecond down = BytesPerSecond::unlimited();
};

// The uplinks of racks that have limited rates.
std::map<int, Uplink> uplinks(const Cluster& cluster) {
  std::map<std::string, BytesPerSecond> rates;
  for (const Link& link : cluster.links()) {
    if (link.kind == Link::Kind::kRack) rates.emplace(link.name, link.rate);
  }
  std::map<int, Uplink> found;
  if (rates.empty()) return found;
  for (const Machine& machine : cluster.machines()) {
    Uplink& rack = found[machine.rack];
    if (const auto up = rates.find(fmt::format("rack[{}].up", machine.rack)); up != rates.end())
      rack.up = up->second;
    if (const auto down = rates.find(fmt::format("rack[{}].down", machine.rack)); down != rates.end())
      rack.down = down->second;
  }
  return found;
}

void add_switch(const Cluster& cluster, Wiring& wiring) {
  std::string ip = "link set lo up\n" + bridge("core");
  std::string tc;
  std::string steered;
  const std::map<int, Uplink> racks = uplinks(cluster);
  for (const auto& [rack, rates] : racks) {
    const std::string name = fmt::format("rack{}", rack);
    ip += bridge(name);
    ip += fmt::format("link add up{0} mtu {1} type veth peer name down{0} mtu {1}\n", rack, kMtu.count());
    ip += fmt::format("link set up{} master {}\n", rack, name) + up(fmt::format("up{}", rack));
    ip += fmt::format("link set down{} master core\n", rack) + up(fmt::format("down{}", rack));
    steered += fmt::format("up{0}\ndown{0}\n", rack);
    tc += shaping(fmt::format("up{}", rack), rates.up);
    tc += shaping(fmt::format("down{}", rack), rates.down);
  }
  const std::size_t machines = cluster.machines().size();
  const std::size_t sources = machines <= kMostSources ? machines : 0;
  for (std::size_t m = 0; m < machines; ++m) {
    const Machine& machine = cluster.machine(MachineId(m));
    const std::string home = racks.empty() ? "core" : fmt::format("rack{}", machine.rack);
    for (std::size_t nic = 0; nic < machine.nics.size(); ++nic) {
      const std::string name = port(MachineId(m), nic);
      ip += fmt::format("link add {} mtu {} type veth peer name eth{} mtu {} netns /proc/self/fd/{}\n", name,
                        kMtu.count(), nic, kMtu.count(), Wiring::kFirstFile + static_cast<int>(m));
      ip += fmt::format("link set {} master {}\n", name, home) + up(name);
      steered += name + "\n";
      tc += shaping(name, cluster.link(machine.nics[nic].in).rate, sources);
    }
  }
  wiring.batches.push_back({MachineId::none(), "ip", std::move(ip)});
  if (!tc.empty()) wiring.batches.push_back({MachineId::none(), "tc", std::move(tc)});
  wiring.batches.push_back({MachineId::none(), "steer", std::move(steered), false});
}

// Sets per route what the host's defaults would decide: the congestion control (reno shares a link with a
// short queue most evenly) and how soon a lost end of a message is sent again.
std::string route(const std::string& where, std::size_t nic, const std::string& address,
                  const std::string& table) {
  return fmt::format("route replace {} dev eth{} src {} rto_min 50ms initcwnd 20 congctl reno{}\n", where,
                     nic, address, table);
}

// Two settings for links that are busy both ways, where acknowledgements overtake data:
// - A packet is dropped if its acknowledgement is more than a window older than the newest (RFC 5961, 5.2).
// Windows
//   that have yet to grow are smaller than a fast link's queue, so buffers have its size from the start. On
//   slow links that would only fill queues sooner.
// - The kernel keeps no timestamp of packets that acknowledge nothing new, so here it echoes timestamps that
// are
//   seconds old. The sender would take resent packets for superfluous ones, and wait as long for the next.
std::string tcp_settings(const Cluster& cluster, const Machine& machine) {
  Bytes longest = Bytes(0);
  for (const auto& nic : machine.nics) {
    const BytesPerSecond rate = cluster.link(nic.in).rate;
    longest = std::max(longest, rate.limited() ? longest_queue(rate) : kWidestBuffer);
  }
  std::string lines;
  if (longest > kLeastQueue) {
    lines = fmt::format("net/ipv4/tcp_rmem=4096 {} {}\n", std::min(longest, kWidestBuffer).count(),
                        kGrownBuffer.count());
  }
  return lines + "net/ipv4/tcp_timestamps=0\n";
}

// With several NICs, each uses its own address: packets from it leave through it, and so do packets to other
// machines' NICs of the same number. It answers only for its own address. Otherwise packets would arrive
// through whichever NIC answered first.
void add_machine(const Cluster& cluster, MachineId id, Wiring& wiring) {
  const Machine& machine = cluster.machine(id);
  const bool several = machine.nics.size() > 1;
  std::string ip = "link set lo up\n";
  std::string tc;
  std::string steered;
  for (std::size_t nic = 0; nic < machine.nics.size(); ++nic) {
    const std::string name = fmt::format("eth{}", nic);
    const std::string address = lab_address(id, static_cast<int>(nic));
    ip += up(name);
    ip += fmt::format("address add {}/8 dev {} noprefixroute\n", address, name);
    if (nic == 0) ip += route("10.0.0.0/8", nic, address, "");
    if (several) {
      const int table = kTable + static_cast<int>(nic);
      ip += route(fmt::format("10.{}.0.0/16", nic), nic, address, "");
      ip += route("10.0.0.0/8", nic, address, fmt::format(" table {}", table));
      ip += fmt::format("rule add from {} table {}\n", address, table);
    }
    tc += shaping(name, cluster.link(machine.nics[nic].out).rate);
    steered += name + "\n";
  }
  if (several) wiring.batches.push_back({id, "sysctl", kOwnAddressOnly});
  wiring.batches.push_back({id, "ip", std::move(ip)});
  if (!tc.empty()) wiring.batches.push_back({id, "tc", std::move(tc)});
  wiring.batches.push_back({id, "sysctl", tcp_settings(cluster, machine), false});
  wiring.batches.push_back({id, "steer", std::move(steered), false});
}

}  // namespace

std::string Wiring::text() const {
  std::string all;
  for (const Batch& batch : batches) {
    const std::string where =
        batch.machine.valid() ? fmt::format("machine {}", batch.machine) : std::string("switch");
    std::size_t from = 0;
    while (from < batch.lines.size()) {
      const std::size_t end = batch.lines.find('\n', from);
      all += fmt::format("{}: {} {}\n", where, batch.tool, batch.lines.substr(from, end - from));
      from = end + 1;
    }
  }
  return all;
}

std::string lab_address(MachineId machine, int nic) {
  const int host = lab_host(machine.index());
  return fmt::format("10.{}.{}.{}", nic, host >> 8, host & 0xff);
}

int lab_host(std::size_t machine) {
  const int number = static_cast<int>(machine);
  return number / kMachinesPerByte * 256 + number % kMachinesPerByte + 1;
}

Result<Wiring> wiring(const Cluster& cluster) {
  if (cluster.machines().size() > kMostMachines) {
    return failure(fmt::format("{} has {} machines, but a lab holds at most {}; try fewer, with --set",
                               cluster.name(), cluster.machines().size(), kMostMachines));
  }
  for (const Machine& machine : cluster.machines()) {
    if (machine.nics.empty()) {
      return failure(
          fmt::format("{} of {} has no NIC, so a lab has no link for it; give its group 'nics', as in "
                      "topologies/lab-4.json",
                      machine.name, cluster.name()));
    }
    if (machine.nics.size() > static_cast<std::size_t>(kMostNics)) {
      return failure(fmt::format("{} of {} has {} NICs, but a machine of a lab has at most {}", machine.name,
                                 cluster.name(), machine.nics.size(), kMostNics));
    }
  }
  Wiring all;
  add_switch(cluster, all);
  for (std::size_t m = 0; m < cluster.machines().size(); ++m) add_machine(cluster, MachineId(m), all);
  return all;
}

}  // namespace weir::real
