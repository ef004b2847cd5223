#include "backends/real/job/connect.h"

#include "backends/real/job/host.h"
#include "backends/real/transport/wires.h"

namespace weir::real {
namespace {

// Where that machine listens for this one, by NIC. For this one itself: where it listens for other hosts.
std::vector<Address> addresses(const Place& place, const Place& own, TransportChoice transport) {
  const bool near = shares_memory(transport) && !own.local.empty() && !place.local.empty() &&
                    place.local != own.local && place.reach == own.reach;
  if (near) return {{place.local, 0}};
  std::vector<Address> all;
  for (std::size_t i = 0; i < place.hosts.size(); ++i)
    all.push_back({place.hosts[i], static_cast<std::uint16_t>(place.ports[i])});
  return all;
}

}  // namespace

Result<LocalListener> listen_locally() {
  const auto name = make_token();
  if (!name) return tl::unexpected(name.error());
  const std::string local = "@weir-" + hexadecimal(*name).substr(0, 32);
  auto listener = listen_at({local, 0});
  if (!listener) return tl::unexpected(listener.error());
  return LocalListener{std::move(*listener), local};
}

Result<Peers> connect_peers(const Plan& plan, const Cluster& cluster, const Buffers& buffers,
                            const PeerSettings& settings, std::span<const Descriptor> listeners) {
  if (settings.machines.size() != plan.machines())
    return failure("the coordinator reports a different number of machines");
  Meeting meeting;
  meeting.self = settings.self;
  meeting.lanes = lanes_of(plan, settings.self);
  for (const Place& place : settings.machines) {
    if (place.hosts.empty() || place.hosts.size() != place.ports.size())
      return failure("the coordinator reports a machine without an address");
    meeting.addresses.push_back(
        addresses(place, settings.machines[settings.self.index()], settings.transport));
  }
  for (const Machine& machine : cluster.machines()) meeting.names.push_back(machine.name);
  meeting.channels = settings.channels;
  meeting.token = settings.token;
  meeting.sealed = settings.encrypt;
  meeting.patience = settings.patience;
  meeting.watch = settings.watch;
  auto channels = meet(meeting, listeners);
  if (!channels) return tl::unexpected(channels.error());
  Joining joining{meeting, plan, buffers, {}};
  const std::vector<Nic>& nics = cluster.machine(settings.self).nics;
  // The plan's machine may stand for this one, which may have fewer NICs.
  for (std::size_t i = 0; i < nics.size(); ++i)
    joining.nics.push_back({i < settings.nics.size() ? settings.nics[i].rdma : std::nullopt, nics[i].numa});
  const auto refused = join(*channels, joining, settings.transport);
  if (!refused) return tl::unexpected(refused.error());
  Peers peers;
  for (const auto& [lane, why] : *refused) ++peers.on_tcp[why];
  for (const Channel& channel : *channels) {
    if (channel.index == 0) ++peers.transports[std::string(channel.medium->wire())];
  }
  peers.channels = std::move(*channels);
  return peers;
}

}  // namespace weir::real
