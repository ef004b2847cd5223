#include <fmt/format.h>

#include <string>
#include <vector>

#include "backends/real/discovery/checks.h"
#include "core/base/units_text.h"

namespace weir::real {
namespace {

Finding check_port(const rdma::Port& port) {
  Finding finding{"rdma " + port.name, Grade::kOk, port.ethernet ? "RoCE" : "InfiniBand", ""};
  if (!port.problem.empty())
    return {finding.subject, Grade::kWarning, port.problem,
            "allow this user to open /dev/infiniband/uverbs*; in a container, --device /dev/infiniband"};
  if (!port.up) {
    finding.grade = Grade::kNote;
    finding.found += ", down";
    finding.remedy =
        port.ethernet ? "ip link set its interface up" : "see its cable, and whether a subnet manager runs";
    return finding;
  }
  finding.found += fmt::format(", packets of {} bytes", port.mtu);
  std::vector<std::string> gids;
  for (const rdma::Gid& gid : port.gids)
    gids.push_back(fmt::format("GID {}: {} {}", gid.index, gid.type, gid.address));
  if (!gids.empty()) finding.found += fmt::format(", {}", fmt::join(gids, ", "));
  if (rdma::usable_gid(port) == nullptr) {
    finding.grade = Grade::kWarning;
    finding.found += ", but no GID that machines could use";
    finding.remedy = port.ethernet ? "give its interface an IP address; RoCE v1 alone is not routed"
                                   : "see its subnet manager";
    return finding;
  }
  if (port.mtu < port.mtu_most) {
    finding.grade = Grade::kNote;
    finding.remedy =
        port.ethernet
            ? fmt::format("ip link set its interface mtu 9000, and the switches': packets may have {} bytes",
                          port.mtu_most)
            : fmt::format("its subnet could have packets of {} bytes", port.mtu_most);
  }
  return finding;
}

}  // namespace

Findings check_rdma(const rdma::Survey& survey, const HostLimits& limits) {
  if (!survey.ports)
    return {{"rdma", Grade::kNote, survey.ports.error().text,
             "to use RDMA: apt-get install libibverbs1 ibverbs-providers librdmacm1"}};
  if (survey.ports->empty()) return {{"rdma", Grade::kNote, "no device", ""}};
  Findings findings;
  for (const rdma::Port& port : *survey.ports) findings.push_back(check_port(port));
  if (!survey.manager)
    findings.push_back({"rdma manager", Grade::kWrong, survey.manager.error().text,
                        "modprobe rdma_ucm; in a container, --device /dev/infiniband/rdma_cm"});
  if (limits.locked && *limits.locked < limits.memory)
    findings.push_back(
        {"rdma memory", Grade::kWarning,
         fmt::format("{} may be locked, but all memory for messages must be", rounded(*limits.locked)),
         "ulimit -l unlimited (LimitMEMLOCK=infinity of a service)"});
  return findings;
}

}  // namespace weir::real
