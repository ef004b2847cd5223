#include "backends/real/discovery/checks.h"

#include <algorithm>

#include "tests/catch.h"

namespace weir::real {
namespace {

const PcieLink kChecksGen5 = {"32.0 GT/s PCIe", 16};

HostLimits good_limits() {
  HostLimits limits;
  limits.cpus = limits.cpus_present = 8;
  limits.memory = Bytes(std::int64_t{64} << 30);
  limits.huge_pages = "madvise";
  return limits;
}

HostParts box(int gpus) {
  HostParts parts;
  parts.numas.emplace_back();
  parts.driver = "550.54.15";
  for (int i = 0; i < gpus; ++i) {
    HostParts::Gpu gpu;
    gpu.name = "NVIDIA H200";
    gpu.capability = 90;
    gpu.place.id = "0000:0" + std::to_string(i) + ":00.0";
    gpu.place.own = gpu.place.link = kChecksGen5;
    gpu.place.lanes_now = 16;
    gpu.nvlinks.assign(18, {HostParts::Nvlink::Target::kSwitch, ""});
    parts.gpus.push_back(gpu);
    parts.gpu_devices.push_back(gpu.place);
  }
  return parts;
}

GpuState good_state(int gpus) {
  GpuState state{CudaVersions{12040, 12040}, std::vector<std::string>(), std::vector<std::pair<int, int>>(),
                 Result<void>(), std::string("2.21.5")};
  for (int i = 0; i < gpus; ++i) state.ids->push_back("0000:0" + std::to_string(i) + ":00.0");
  return state;
}

Finding find(const Findings& findings, const std::string& subject) {
  const auto found = std::find_if(findings.begin(), findings.end(),
                                  [&](const Finding& one) { return one.subject == subject; });
  return found == findings.end() ? Finding{"nothing of " + subject, Grade::kWrong, "", ""} : *found;
}

TEST_CASE("a host with everything in order has no findings", "[discovery]") {
  CHECK(worst(check_host(box(0), good_limits())) == Grade::kOk);
  CHECK(worst(check_gpus(box(8), good_limits())) == Grade::kOk);
  CHECK(worst(check_cuda(box(1), good_state(1))) == Grade::kOk);
  CHECK(worst({}) == Grade::kOk);
}

TEST_CASE("RDMA is judged by its ports, its addresses and the limit of locked memory", "[discovery]") {
  const HostLimits limits = good_limits();
  rdma::Port roce{
      "mlx5_0 port 1", "", true, true, 4096, 4096, {{0, "RoCE v1", "10.0.0.1"}, {3, "RoCE v2", "10.0.0.1"}}};
  const auto judged = [&](const rdma::Port& port) { return check_rdma({std::vector{port}, {}}, limits); };
  CHECK(judged(roce) == Findings{{"rdma mlx5_0 port 1", Grade::kOk,
                                  "RoCE, packets of 4096 bytes, GID 0: RoCE v1 10.0.0.1, GID 3: RoCE v2 "
                                  "10.0.0.1",
                                  ""}});
  roce.mtu = 1024;
  CHECK(judged(roce)[0].grade == Grade::kNote);
  CHECK_THAT(judged(roce)[0].remedy, has_text("mtu 9000"));
  roce.gids.pop_back();
  CHECK(judged(roce)[0].grade == Grade::kWarning);
  roce.up = false;
  CHECK(judged(roce)[0].found == "RoCE, down");
  const rdma::Port infiniband{"mlx5_1 port 1", "", true, false, 4096, 4096, {{0, "InfiniBand", "fe80::1"}}};
  CHECK(judged(infiniband)[0].grade == Grade::kOk);
  HostLimits little = limits;
  little.locked = Bytes(1 << 20);
  CHECK(check_rdma({std::vector{rdma::Port{"mlx5_2", "cannot be opened: Permission denied"}}, {}}, limits)[0]
            .grade == Grade::kWarning);
  const auto lacking = check_rdma({std::vector{infiniband}, failure("no manager")}, little);
  CHECK(find(lacking, "rdma manager").grade == Grade::kWrong);
  CHECK(find(lacking, "rdma memory").grade == Grade::kWarning);
  CHECK(check_rdma({std::vector<rdma::Port>(), {}}, little)[0].grade == Grade::kNote);
  CHECK(check_rdma({failure("no library"), failure("no library")}, little)[0].found == "no library");
}

TEST_CASE("each limit that matters is reported with its remedy", "[discovery]") {
  HostLimits limits = good_limits();
  limits.cpus = 4;
  CHECK(find(check_host(box(0), limits), "cpus").grade == Grade::kNote);
  limits.cpu_quota = 1.5;
  CHECK(find(check_host(box(0), limits), "cpus").grade == Grade::kWarning);
  limits.memory = Bytes(1 << 20);
  CHECK(find(check_host(box(0), limits), "memory").grade == Grade::kWarning);
  limits.locked = Bytes(8 << 20);
  CHECK(find(check_host(box(0), limits), "locked memory").grade == Grade::kNote);
  limits.huge_pages = "never";
  CHECK(find(check_host(box(0), limits), "huge pages").grade == Grade::kNote);
}

TEST_CASE("the connections of a large job over all NICs count against the limit of open files",
          "[discovery]") {
  HostLimits limits = good_limits();
  HostParts parts = box(0);
  parts.nics.resize(1);
  limits.files = 1024;
  limits.files_most = 4096;
  CHECK(find(check_host(parts, limits), "open files").grade == Grade::kOk);
  parts.nics.resize(8);
  const Finding finding = find(check_host(parts, limits), "open files");
  CHECK(finding.grade == Grade::kWarning);
  CHECK_THAT(finding.remedy, has_text("ulimit -n 1108"));
  limits.files_most = 1024;
  CHECK_THAT(find(check_host(parts, limits), "open files").remedy, has_text("root"));
}

TEST_CASE("NICs are reported with what slows them", "[discovery]") {
  HostParts parts = box(0);
  CHECK(find(check_nics(parts), "nics").grade == Grade::kWarning);
  HostParts::Nic nic;
  nic.name = "eth0";
  nic.mbps = 200'000;
  nic.mtu = 9000;
  nic.place.link = {"16.0 GT/s PCIe", 16};
  parts.nics = {nic};
  CHECK(find(check_nics(parts), "nic eth0").grade == Grade::kWarning);  // 24 of 25 GB/s
  parts.nics[0].place.link = kChecksGen5;
  CHECK(find(check_nics(parts), "nic eth0").grade == Grade::kOk);
  parts.nics[0].mtu = 1500;
  CHECK(find(check_nics(parts), "nic eth0").grade == Grade::kNote);
  parts.nics[0].mbps = std::nullopt;
  CHECK_THAT(find(check_nics(parts), "nic eth0").remedy, has_text("--nic-rate"));
  parts.nics[0].up = false;
  CHECK_THAT(find(check_nics(parts), "nic eth0").found, has_text("down"));
  CHECK(find(check_nics(parts), "nics").grade == Grade::kWarning);
}

TEST_CASE("GPUs without a driver are reported, and a host without GPUs in one line", "[discovery]") {
  HostParts parts;
  parts.no_driver = "no library";
  CHECK(check_gpus(parts, good_limits()).size() == 1);
  CHECK(find(check_gpus(parts, good_limits()), "gpus").grade == Grade::kNote);
  parts.gpu_devices.resize(2);
  CHECK(find(check_gpus(parts, good_limits()), "gpus").grade == Grade::kWarning);
  CHECK_THAT(find(check_gpus(parts, good_limits()), "gpus").found, has_text("no library"));
  parts = box(1);
  parts.gpu_devices.resize(8);
  CHECK(find(check_gpus(parts, good_limits()), "gpus").grade == Grade::kNote);
}

TEST_CASE("a GPU in a narrow slot, or with lanes or NVLinks down, is named", "[discovery]") {
  HostParts parts = box(2);
  parts.gpus[1].place.link.width = 8;
  parts.gpus[1].place.lanes_now = 8;
  CHECK_THAT(find(check_gpus(parts, good_limits()), "pcie").found, has_text("GPU 1 (0000:01:00.0)"));
  parts.gpus[1].place.lanes_now = 4;
  CHECK(check_gpus(parts, good_limits()).size() == 5);  // gpus, pcie twice, nvlink, iommu
  parts = box(2);
  parts.gpus[0].nvlinks_down = 1;
  parts.gpus[0].nvlinks.pop_back();
  const Finding link = find(check_gpus(parts, good_limits()), "nvlink");
  CHECK(link.grade == Grade::kWarning);
  CHECK_THAT(link.found, has_text("17 NVLinks up and 1 down"));
  for (HostParts::Gpu& gpu : parts.gpus) {
    gpu.nvlinks.clear();
    gpu.nvlinks_down = 4;
  }
  CHECK(find(check_gpus(parts, good_limits()), "nvlink").grade == Grade::kNote);
}

TEST_CASE("MIG and an interfering IOMMU are reported", "[discovery]") {
  HostParts parts = box(1);
  parts.gpus[0].mig = true;
  CHECK(find(check_gpus(parts, good_limits()), "mig").grade == Grade::kWarning);
  HostLimits limits = good_limits();
  limits.iommus = 4;
  CHECK(find(check_gpus(parts, limits), "iommu").grade == Grade::kNote);
  limits.iommu_passes = true;
  CHECK(find(check_gpus(parts, limits), "iommu").grade == Grade::kOk);
}

TEST_CASE("a driver older than CUDA works within a major version only", "[discovery]") {
  GpuState state = good_state(1);
  state.versions = CudaVersions{12060, 12020};
  CHECK(find(check_cuda(box(1), state), "cuda").grade == Grade::kNote);
  state.versions = CudaVersions{13000, 12080};
  CHECK(find(check_cuda(box(1), state), "cuda").grade == Grade::kWrong);
  state.versions = CudaVersions{13000, 0};
  CHECK_THAT(find(check_cuda(box(1), state), "cuda").found, has_text("no driver"));
  state.versions = CudaVersions{12060, 13000};
  CHECK(find(check_cuda(box(1), state), "cuda").grade == Grade::kOk);
  state.versions = std::nullopt;
  CHECK(find(check_cuda(box(1), state), "cuda").grade == Grade::kWarning);
  CHECK(check_cuda(box(0), state).empty());
}

TEST_CASE("failures of CUDA and NCCL are reported with their own messages", "[discovery]") {
  GpuState state = good_state(2);
  const HostParts parts = box(2);
  CHECK(find(check_cuda(parts, state), "nvls").grade == Grade::kNote);
  CHECK(find(check_cuda(parts, state), "peers").grade == Grade::kOk);
  state.apart->emplace_back(0, 1);
  CHECK_THAT(find(check_cuda(parts, state), "peers").found, has_text("1 of 2 paths"));
  state.pinned = failure("no memory");
  CHECK(find(check_cuda(parts, state), "pinned memory") ==
        Finding{"pinned memory", Grade::kWrong, "no memory",
                find(check_cuda(parts, state), "pinned memory").remedy});
  state.nccl = failure("no libnccl.so.2");
  CHECK(find(check_cuda(parts, state), "nccl").grade == Grade::kWrong);
  CHECK(find(check_cuda(box(1), state), "nvls").subject == "nothing of nvls");
  state.ids->pop_back();
  CHECK(find(check_cuda(parts, state), "visible gpus").grade == Grade::kNote);
  CHECK(find(check_cuda(parts, state), "nccl").grade == Grade::kNote);  // one GPU does not need NCCL
  state.ids = failure("no CUDA device");
  CHECK(find(check_cuda(parts, state), "visible gpus").grade == Grade::kWrong);
}

}  // namespace
}  // namespace weir::real
