#include "core/plan/fit.h"

#include <algorithm>
#include <vector>

#include "core/plan/print.h"

namespace weir {
namespace {

class Fit {
 public:
  Fit(const Plan& plan, const Cluster& cluster, const Workload& workload)
      : plan_(plan), cluster_(cluster), workload_(workload) {}

  ProofErrors check() && {
    if (plan_.machines() != cluster_.machines().size()) {
      findings_.add(fmt::format("the plan is for {} machines, but the cluster has {}", plan_.machines(),
                                cluster_.machines().size()));
      return findings_;
    }
    for (std::size_t i = 0; i < plan_.buffers().size(); ++i) check_place(BufferId(i));
    if (findings_.empty()) check_memory();
    for (const Op& op : plan_.ops()) check_op(op);
    for (std::size_t i = 0; i < plan_.machines() && !findings_.full(); ++i) {
      if (cluster_.machine(MachineId(i)).has_gpus()) check_layers(MachineId(i));
    }
    return findings_;
  }

 private:
  std::string words_of(MachineId machine) const {
    return fmt::format("machine {} ({})", machine, cluster_.machine(machine).name);
  }

  void check_place(BufferId id) {
    const Buffer& buffer = plan_.buffer(id);
    const Machine& machine = cluster_.machine(buffer.machine);
    const auto gpus = static_cast<int>(machine.gpus.size());
    const auto numas = static_cast<int>(machine.numas.size());
    if (buffer.place == Memory::Kind::kGpu && buffer.replicas != gpus) {
      findings_.add(fmt::format("buffer b{} has replicas on {} GPUs, but {} has {}", id, buffer.replicas,
                                words_of(buffer.machine), gpus));
    }
    if (buffer.place == Memory::Kind::kHost && buffer.numa >= numas) {
      findings_.add(fmt::format("buffer b{} lies on NUMA node {}, but {} has {}", id, buffer.numa,
                                words_of(buffer.machine), numas));
    }
  }

  void check_memory() {
    for (const Shortage& shortage : shortages(plan_, cluster_)) {
      findings_.add(fmt::format("the buffers on {} take {} bytes of {}, which has {}",
                                words_of(shortage.machine), shortage.taken.count(), shortage.name,
                                shortage.room.count()));
    }
  }

  void check_op(const Op& op) {
    const Machine& machine = cluster_.machine(op.machine);
    if (is_message(op.kind) && op.nic >= static_cast<int>(machine.nics.size())) {
      findings_.add(fmt::format("{}: names NIC {}, but {} has {}", words(op), op.nic, words_of(op.machine),
                                machine.nics.size()));
    }
    if (!is_compute(op.kind)) return;
    if (!machine.has_gpus()) findings_.add(fmt::format("{}: its machine has no GPU", words(op)));
    if (op.layer < 0 || op.layer >= workload_.layers()) {
      findings_.add(fmt::format("{}: the workload has {} layers", words(op), workload_.layers()));
      return;
    }
    const Slice& slice = main_slice(op);
    const Range range = workload_.range(op.layer);
    if (slice.size > Bytes(0) && (slice.offset < range.offset || slice.end() > range.end())) {
      findings_.add(fmt::format("{}: {} is not in its layer, which lies at {}+{}", words(op),
                                text(plan_, slice), range.offset.count(), range.size.count()));
    }
  }

  void check_layers(MachineId machine) {
    const auto layers = static_cast<std::size_t>(workload_.layers());
    std::vector<std::vector<Range>> backward(layers);
    std::vector<std::vector<Range>> forward(layers);
    for (const Op& op : plan_.ops(machine)) {
      if (op.layer < 0 || op.layer >= workload_.layers()) continue;
      switch (op.kind) {
        case OpKind::kBackward:
          backward[static_cast<std::size_t>(op.layer)].push_back({op.into.offset, op.into.size});
          break;
        case OpKind::kForward:
          forward[static_cast<std::size_t>(op.layer)].push_back({op.from.offset, op.from.size});
          break;
        case OpKind::kSend:
        case OpKind::kReceive:
        case OpKind::kSum:
        case OpKind::kUpdate:
        case OpKind::kCopy:
        case OpKind::kJoin:
        case OpKind::kWait:
        case OpKind::kHold:
        case OpKind::kReduceScatter:
        case OpKind::kAllGather:
        case OpKind::kReduce:
        case OpKind::kBroadcast:
        case OpKind::kAllReduce:
          break;
      }
    }
    for (std::size_t layer = 0; layer < layers; ++layer) {
      check_layer(machine, layer, OpKind::kBackward, backward[layer]);
      check_layer(machine, layer, OpKind::kForward, forward[layer]);
    }
  }

  void check_layer(MachineId machine, std::size_t layer, OpKind kind, std::vector<Range>& ranges) {
    if (ranges.empty()) {
      findings_.add(fmt::format("{} has no {} of layer {}", words_of(machine), name(kind), layer));
      return;
    }
    std::ranges::sort(ranges, {}, &Range::offset);
    const Range whole = workload_.range(static_cast<int>(layer));
    Bytes at = whole.offset;
    for (const Range& range : ranges) {
      if (range.offset <= at) at = std::max(at, range.end());
    }
    if (at >= whole.end()) return;
    findings_.add(fmt::format("{}: the {} of layer {} leaves out gradient bytes from {} on, of {}+{}",
                              words_of(machine), name(kind), layer, at.count(), whole.offset.count(),
                              whole.size.count()));
  }

  const Plan& plan_;
  const Cluster& cluster_;
  const Workload& workload_;
  ProofErrors findings_;
};

}  // namespace

std::vector<Shortage> shortages(const Plan& plan, const Cluster& cluster) {
  std::vector<std::vector<Bytes>> host;
  std::vector<Bytes> gpu(plan.machines());
  for (const Machine& machine : cluster.machines()) host.emplace_back(machine.numas.size());
  for (const Buffer& buffer : plan.buffers()) {
    const std::size_t machine = buffer.machine.index();
    const bool on_gpus = buffer.place == Memory::Kind::kGpu;
    (on_gpus ? gpu[machine] : host[machine][static_cast<std::size_t>(buffer.numa)]) += buffer.size;
  }
  std::vector<Shortage> found;
  // A memory size of 0 means that the size is not stated.
  const auto check = [&](const Shortage& memory) {
    if (memory.room > Bytes(0) && memory.taken > memory.room) found.push_back(memory);
  };
  for (std::size_t i = 0; i < plan.machines(); ++i) {
    const Machine& machine = cluster.machine(MachineId(i));
    for (std::size_t n = 0; n < machine.numas.size(); ++n) {
      const Numa& numa = machine.numas[n];
      check({Memory::host(static_cast<int>(n)), numa.name, MachineId(i), host[i][n], numa.memory});
    }
    for (std::size_t g = 0; g < machine.gpus.size(); ++g) {
      check({Memory::gpu(static_cast<int>(g)), machine.gpus[g].name, MachineId(i), gpu[i],
             machine.gpus[g].memory});
    }
  }
  return found;
}

ProofErrors fit_findings(const Plan& plan, const Cluster& cluster, const Workload& workload) {
  return Fit(plan, cluster, workload).check();
}

}  // namespace weir
