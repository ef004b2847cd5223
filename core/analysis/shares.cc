#include "core/analysis/shares.h"

#include <algorithm>
#include <limits>
#include <map>

#include "core/analysis/linear_program.h"
#include "core/analysis/local_loads.h"
#include "core/hardware/work.h"
#include "core/strategies/blocks/nics.h"

namespace weir {
namespace {

constexpr double kNothing = 1e-7;  // smaller shares count as 0
// The fraction by which the time may exceed the least time, to allow a smaller sum of times.
constexpr double kTimeSlack = 1e-8;

// How the time of one resource depends on the shares: seconds per byte of model = fixed + sum of by_class x
// share.
struct Row {
  std::string name;
  double fixed = 0.0;
  std::vector<double> by_class;
};

// Collects, link by link and device by device, what the exchange of one byte of model costs.
class Costs {
 public:
  Costs(const Cluster& cluster, Dtype dtype, const Options& options, const LocalStageOf& stages,
        Summing summing)
      : cluster_(cluster),
        dtype_(dtype),
        options_(options),
        stages_(stages),
        passes_(summing == Summing::kOptimal ? 0 : memory_passes(options)) {
    std::map<int, std::size_t> classes;
    for (std::size_t i = 0; i < cluster.machines().size(); ++i) {
      const int original = cluster.machine_class(MachineId(i));
      const auto [at, fresh] = classes.try_emplace(original, members_.size());
      if (fresh) members_.emplace_back();
      members_[at->second].push_back(MachineId(i));
      class_of_.push_back(at->second);
    }
    links_.resize(cluster.links().size());
    for (auto& link : links_) link.by_class.assign(members_.size(), 0.0);
    add_exchange();
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (has_gpus(i)) add_local(i);
      add_sums(i);
    }
  }

  // One row for each different resource. Machines of a class are interchangeable, so the first represents
  // all.
  std::vector<Row> rows() const {
    std::map<std::vector<float>, Row>
        distinct;  // single precision, because the order of sums changes the last bits
    const auto keep = [&](const Row& row) {
      std::vector<float> key = {static_cast<float>(row.fixed)};
      for (const double coefficient : row.by_class) key.push_back(static_cast<float>(coefficient));
      distinct.try_emplace(std::move(key), row);
    };
    for (std::size_t i = 0; i < links_.size(); ++i) {
      const Link& link = cluster_.links()[i];
      if (link.machine.valid() && !stands_for_class(link.machine)) continue;
      Row row = links_[i];
      row.name = link.name;
      const auto rate = static_cast<double>(link.rate.value());
      row.fixed /= rate;
      for (double& coefficient : row.by_class) coefficient /= rate;
      keep(row);
    }
    std::vector<Row> rows;
    for (const auto& [key, row] : distinct) rows.push_back(row);
    return rows;
  }

  std::size_t classes() const { return members_.size(); }
  const std::vector<MachineId>& members(std::size_t index) const { return members_[index]; }
  bool has_gpus(std::size_t index) const { return cluster_.machine(members_[index].front()).has_gpus(); }
  std::size_t class_of(MachineId machine) const { return class_of_[machine.index()]; }

 private:
  bool stands_for_class(MachineId machine) const { return members_[class_of(machine)].front() == machine; }

  void load_class(const Route& route, std::size_t by_class, double bytes) {
    for (const LinkId link : route.links) links_[link.index()].by_class[by_class] += bytes;
  }

  // Adds the way between GPUs and host memory. Bytes that the machine sums itself may take another way.
  void add_local(std::size_t index) {
    const MachineId machine = members_[index].front();
    const LocalStage stage = stages_[machine.index()];
    const LocalLoads local = local_loads(cluster_, machine, stage, dtype_, options_, false);
    for (const auto& [link, bytes] : local) links_[link.index()].fixed += bytes;
    if (stage != LocalStage::kGpuDirect || options_.loopback == Loopback::kNic) return;
    const LocalLoads own = local_loads(cluster_, machine, stage, dtype_, options_, true);
    for (const auto& [link, bytes] : own) links_[link.index()].by_class[index] += bytes;
    for (const auto& [link, bytes] : local) links_[link.index()].by_class[index] -= bytes;
  }

  // The memories where the bytes of a NIC lie, and their fractions.
  using Places = std::vector<std::pair<Memory, double>>;

  Places hosts(MachineId machine, int nic) const {
    Places hosts;
    for (const auto& [numa, fraction] : numa_fractions(cluster_, machine, nic, options_.numa))
      hosts.emplace_back(Memory::host(numa), fraction);
    return hosts;
  }

  // The memories from which a worker sends to other machines.
  Places sources(MachineId worker, int nic) const {
    Places sources;
    const LocalStage stage = stages_[worker.index()];
    for (const LocalMix& mix : local_mix(cluster_, worker, nic, stage, options_.brute_force)) {
      if (!mix.scheme.direct) return hosts(worker, nic);
      sources.emplace_back(Memory::gpu(mix.scheme.root), mix.fraction);
    }
    return sources;
  }

  // How many gradients leave the machine.
  double senders(MachineId worker) const {
    const bool apart = stages_[worker.index()] == LocalStage::kApart;
    return apart ? static_cast<double>(cluster_.machine(worker).gpus.size()) : 1.0;
  }

  // Every worker sends its part to the machine that sums it, and gets the sum back. Pairs of machines that
  // represent no class matter only for links that machines share.
  void add_exchange() {
    const bool shared = std::any_of(cluster_.links().begin(), cluster_.links().end(),
                                    [](const Link& link) { return !link.machine.valid(); });
    std::vector<std::vector<double>> fractions;
    for (std::size_t i = 0; i < cluster_.machines().size(); ++i)
      fractions.push_back(nic_fractions(cluster_, MachineId(i)));
    for (const MachineId worker : cluster_.gpu_machines()) {
      for (std::size_t out = 0; out < fractions[worker.index()].size(); ++out) {
        const auto places = sources(worker, static_cast<int>(out));
        const double copies = senders(worker);
        for (std::size_t s = 0; s < cluster_.machines().size(); ++s) {
          const MachineId server(s);
          if (server == worker) {
            add_own(worker, static_cast<int>(out), places, fractions[s][out]);
            continue;
          }
          if (!shared && !stands_for_class(worker) && !stands_for_class(server)) continue;
          for (std::size_t in = 0; in < fractions[s].size(); ++in) {
            const double nics = fractions[worker.index()][out] * fractions[s][in];
            for (const auto& [there, sum] : hosts(server, static_cast<int>(in))) {
              for (const auto& [here, fraction] : places) {
                add_pair({worker, here, static_cast<int>(out)}, {server, there, static_cast<int>(in)},
                         fraction * sum * nics * copies);
              }
            }
          }
        }
      }
    }
  }

  // Adds what a machine sums of its own gradient, and the sum: out of its NIC and back in, if loopback goes
  // that way.
  void add_own(MachineId machine, int nic, const Places& places, double fraction) {
    if (options_.loopback != Loopback::kNic || !stands_for_class(machine)) return;
    for (const auto& [there, sum] : hosts(machine, nic)) {
      for (const auto& [here, part] : places)
        add_pair({machine, here, nic}, {machine, there, nic}, fraction * sum * part);
    }
  }

  struct Place {
    MachineId machine;
    Memory memory;
    int nic = 0;
  };

  void add_pair(const Place& worker, const Place& server, double fraction) {
    const std::size_t by = class_of(server.machine);
    const auto route = [&](const Place& from, const Place& into) {
      return cluster_.route(from.machine, from.memory, from.nic, into.machine, into.memory, into.nic);
    };
    load_class(route(worker, server), by, fraction);
    load_class(route(server, worker), by, fraction);
  }

  // Adds the load of summing and updating others' parts on the cores and the memory of each NUMA node.
  void add_sums(std::size_t index) {
    double sums = -1.0;
    for (const MachineId worker : cluster_.gpu_machines()) sums += senders(worker);
    const MachineId first = members_[index].front();
    const std::vector<double> fractions = nic_fractions(cluster_, first);
    const double updates = static_cast<double>(size(Dtype::kF32).count()) /
                           static_cast<double>(size(dtype_).count()) * passes_ / kPassesOfSum;
    for (std::size_t nic = 0; nic < fractions.size(); ++nic) {
      for (const auto& place : hosts(first, static_cast<int>(nic))) {
        const Numa& numa = cluster_.machine(first).numas[static_cast<std::size_t>(place.first.index)];
        const double fraction = place.second * fractions[nic];
        const auto load = [&](LinkId link, double bytes) {
          if (link.valid()) links_[link.index()].by_class[index] += bytes * fraction;
        };
        load(numa.sum_link(dtype_), sums);
        load(numa.sum_link(Dtype::kF32), updates);
        load(numa.bus, kPassesOfSum * (sums + updates));
      }
    }
  }

  const Cluster& cluster_;
  Dtype dtype_;
  const Options& options_;
  const LocalStageOf& stages_;
  int passes_;  // passes over memory of an update; only parameter servers do updates
  std::vector<std::vector<MachineId>> members_;
  std::vector<std::size_t> class_of_;
  std::vector<Row> links_;
};

double time_of(const Row& row, const std::vector<double>& shares) {
  double seconds = row.fixed;
  for (std::size_t i = 0; i < shares.size(); ++i) seconds += row.by_class[i] * shares[i];
  return seconds;
}

// Minimises the time of the busiest resource. Then, among the shares that reach it, minimises the sum of all
// times, so that no other resource is loaded for nothing.
std::optional<std::vector<double>> optimum(const Costs& costs, const std::vector<Row>& rows, double scale) {
  const auto classes = static_cast<Eigen::Index>(costs.classes());
  const auto count = static_cast<Eigen::Index>(rows.size());
  // Variables: one share per machine of each class, then the time of the busiest resource.
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(count, classes + 1);
  Eigen::VectorXd b(count);
  for (Eigen::Index r = 0; r < count; ++r) {
    const Row& row = rows[static_cast<std::size_t>(r)];
    for (Eigen::Index c = 0; c < classes; ++c) a(r, c) = row.by_class[static_cast<std::size_t>(c)] / scale;
    a(r, classes) = -1.0;
    b(r) = -row.fixed / scale;
  }
  Eigen::MatrixXd e = Eigen::MatrixXd::Zero(1, classes + 1);
  for (Eigen::Index c = 0; c < classes; ++c) {
    e(0, c) = static_cast<double>(costs.members(static_cast<std::size_t>(c)).size());
  }
  const Eigen::VectorXd f = Eigen::VectorXd::Ones(1);
  const Eigen::VectorXd busiest = Eigen::VectorXd::Unit(classes + 1, classes);
  const std::optional<Eigen::VectorXd> first = minimise(busiest, a, b, e, f);
  if (!first) return std::nullopt;

  Eigen::VectorXd all = a.colwise().sum();
  all(classes) = 0.0;
  b.array() += (*first)(classes) + kTimeSlack;
  a.col(classes).setZero();
  const std::optional<Eigen::VectorXd> second = minimise(all, a, b, e, f);
  const Eigen::VectorXd& x = second ? *second : *first;
  std::vector<double> shares;
  for (Eigen::Index c = 0; c < classes; ++c) shares.push_back(x(c) < kNothing ? 0.0 : x(c));
  return shares;
}

// Scales the shares of CPU machines, then those of GPU machines so that all shares add up to 1 again.
void scale_cpu_shares(const Costs& costs, double factor, std::vector<double>& shares) {
  double sum[2] = {0.0, 0.0};  // [0]: machines without GPUs; [1]: machines with GPUs
  double count[2] = {0.0, 0.0};
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const auto members = static_cast<double>(costs.members(i).size());
    sum[costs.has_gpus(i)] += members * shares[i];
    count[costs.has_gpus(i)] += members;
  }
  const double on_cpus = std::min(1.0, factor * sum[0]);
  const double wanted[2] = {on_cpus, 1.0 - on_cpus};
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const bool gpus = costs.has_gpus(i);
    shares[i] = sum[gpus] > kNothing ? shares[i] * wanted[gpus] / sum[gpus] : wanted[gpus] / count[gpus];
  }
}

}  // namespace

Result<Shares> shares_of(const Cluster& cluster, Dtype dtype, const Options& options,
                         const LocalStageOf& stages, Summing summing) {
  const std::size_t machines = cluster.machines().size();
  if (summing == Summing::kCpuMachines && cluster.cpu_machines().empty()) {
    return failure("a parameter server on CPU machines needs at least one machine without GPUs");
  }
  Shares result;
  result.of_machine.assign(machines, 0.0);
  if (machines == 1) {
    result.of_machine[0] = 1.0;
    return result;
  }
  // As in BytePS, the split assumes that machines reach themselves through memory; only the time below does
  // not.
  Options through_memory = options;
  through_memory.loopback = Loopback::kMemory;
  const Costs costs(cluster, dtype, through_memory, stages, summing);
  const std::vector<Row> rows = costs.rows();
  std::vector<double> shares(costs.classes(), 0.0);
  if (summing == Summing::kOptimal) {
    // The unit of time is the time of the best split that uses a single class of machines, so the optimum is
    // near 1. (A split that takes no time is no use as a unit.)
    double scale = std::numeric_limits<double>::max();
    for (std::size_t c = 0; c < costs.classes(); ++c) {
      double alone = 0.0;
      for (const Row& row : rows) {
        alone = std::max(alone, row.fixed + row.by_class[c] / static_cast<double>(costs.members(c).size()));
      }
      if (alone > 0) scale = std::min(scale, alone);
    }
    const auto best = optimum(costs, rows, scale < std::numeric_limits<double>::max() ? scale : 1.0);
    if (!best) return failure("the split has no solution: some link or device has rate 0");
    shares = *best;
    if (options.cpu_share_factor != 1.0) scale_cpu_shares(costs, options.cpu_share_factor, shares);
  } else {
    const bool gpus = summing == Summing::kGpuMachines;
    const auto& members = gpus ? cluster.gpu_machines() : cluster.cpu_machines();
    for (std::size_t i = 0; i < shares.size(); ++i) {
      if (costs.has_gpus(i) == gpus) shares[i] = 1.0 / static_cast<double>(members.size());
    }
  }
  const bool own_nic = options.loopback == Loopback::kNic;
  for (const Row& row : own_nic ? Costs(cluster, dtype, options, stages, summing).rows() : rows) {
    const double seconds = time_of(row, shares);
    if (seconds > result.seconds_per_byte * (1 + 1e-9)) {
      result.seconds_per_byte = seconds;
      result.binding = row.name;
    }
  }
  for (std::size_t i = 0; i < machines; ++i) result.of_machine[i] = shares[costs.class_of(MachineId(i))];
  return result;
}

}  // namespace weir
