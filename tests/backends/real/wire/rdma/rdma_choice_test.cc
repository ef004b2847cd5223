// Which port of a host's RDMA devices belongs to a NIC of the topology, if no address says so.
#include "backends/real/wire/rdma/choice.h"
#include "tests/catch.h"

namespace weir::real::rdma {
namespace {

Port port(const std::string& device, int number, std::optional<int> numa) {
  return {device + " port " + std::to_string(number),
          "",
          true,
          true,
          4096,
          4096,
          {{1, "RoCE v2", "10.0.0.1"}},
          device,
          number,
          numa};
}

std::string name(const Port* port) { return port == nullptr ? "none" : port->name; }

TEST_CASE("NICs take the ports at their NUMA node in turn, and others only where there is none") {
  const std::vector<Port> ports = {port("mlx5_10", 1, 0), port("mlx5_2", 1, 0), port("mlx5_3", 1, 1),
                                   port("mlx5_2", 2, 0)};
  const std::vector<NicPlace> nics = {{{}, 0}, {{}, 1}, {{}, 0}, {{}, 0}, {{}, 0}, {{}, 1}};
  const std::vector<std::string> expected = {"mlx5_2 port 1",  "mlx5_3 port 1", "mlx5_2 port 2",
                                             "mlx5_10 port 1", "mlx5_2 port 1", "mlx5_3 port 1"};
  for (int nic = 0; nic < 6; ++nic) CHECK(name(nearest(ports, nics, nic)) == expected[nic]);
  const std::vector<NicPlace> far = {{{}, 3}};
  CHECK(name(nearest(ports, far, 0)) == "mlx5_2 port 1");
  const std::vector<Port> unplaced = {port("mlx5_0", 1, 1), port("mlx5_1", 1, std::nullopt)};
  CHECK(name(nearest(unplaced, far, 0)) == "mlx5_1 port 1");
}

TEST_CASE("a NIC whose port the topology names leaves other ports to other NICs") {
  const std::vector<Port> ports = {port("mlx5_0", 1, 0), port("mlx5_1", 1, 0)};
  const std::vector<NicPlace> nics = {{RdmaPortSpec{"mlx5_7", 1}, 0}, {{}, 0}};
  CHECK(name(nearest(ports, nics, 1)) == "mlx5_0 port 1");
}

TEST_CASE("no NIC takes a port that is down, cannot be opened or has no routed address") {
  std::vector<Port> ports = {port("mlx5_0", 1, 0), port("mlx5_1", 1, 0), port("mlx5_2", 1, 0)};
  ports[0].up = false;
  ports[1].problem = "cannot be opened";
  ports[2].gids = {{0, "RoCE v1", "10.0.0.1"}, {1, "RoCE v2", "fe80::1"}};
  const std::vector<NicPlace> nics = {{{}, 0}};
  CHECK(nearest(ports, nics, 0) == nullptr);
  ports[2].ethernet = false;
  ports[2].gids = {{0, "InfiniBand", "fe80::1"}};
  CHECK(name(nearest(ports, nics, 0)) == "mlx5_2 port 1");
}

TEST_CASE("a port's IPv4 address is used, or else a routed IPv6 one") {
  Port both = port("mlx5_0", 1, 0);
  both.gids = {{0, "RoCE v2", "fe80::1"}, {1, "RoCE v2", "fd00::1"}, {2, "RoCE v1", "10.0.0.1"}};
  CHECK(usable_gid(both)->index == 1);
  both.gids.push_back({3, "RoCE v2", "10.0.0.1"});
  CHECK(usable_gid(both)->index == 3);
}

}  // namespace
}  // namespace weir::real::rdma
