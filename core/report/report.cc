#include "core/report/report.h"

#include <algorithm>
#include <set>

#include "core/report/interval.h"

namespace weir {
namespace {

// How long the machine that computes longest computed between the two instants. A machine does one
// computation at a time, so the result is never longer than that span. For a machine that was ahead when
// measuring began, what it had done by then does not count.
Duration longest_compute(const Plan& plan, const Record& record, Instant begin, Instant end) {
  std::vector<Duration> by_machine(plan.machines());
  for (const std::vector<OpRecord>& iteration : record.iterations) {
    for (const Op& op : plan.ops()) {
      if (!is_compute(op.kind)) continue;
      const OpRecord& times = iteration[op.id.index()];
      const Instant from = std::max(begin, times.started);
      const Instant until = std::min(end, times.completed);
      if (until > from) by_machine[op.machine.index()] += until - from;
    }
  }
  return *std::max_element(by_machine.begin(), by_machine.end());
}

Duration communication(const Plan& plan, const Record& record, int warm_up) {
  const bool messages = !plan.messages().empty();
  std::vector<Interval> intervals;
  for (std::size_t i = static_cast<std::size_t>(warm_up); i < record.iterations.size(); ++i) {
    for (const Op& op : plan.ops()) {
      if (messages ? op.kind != OpKind::kSend : has_duration(op.kind)) continue;
      const OpRecord& times = record.iterations[i][op.id.index()];
      intervals.push_back({times.started, times.completed});
    }
  }
  return covered(std::move(intervals));
}

std::string without_numbers(std::string name) {
  std::erase_if(name, [](char c) { return c >= '0' && c <= '9'; });
  return name;
}

}  // namespace

std::vector<LinkLoad> links_by_use(const Plan& plan, const Cluster& cluster, const WorkTable& works,
                                   Duration iteration) {
  const std::vector<Bytes> loads = link_loads(plan, cluster, works);
  std::vector<LinkLoad> links;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    if (loads[i] == Bytes(0)) continue;
    const double possible = static_cast<double>(cluster.links()[i].rate.value()) * iteration.seconds();
    links.push_back(
        {LinkId(i), loads[i], possible > 0 ? static_cast<double>(loads[i].count()) / possible : 0.0});
  }
  std::stable_sort(links.begin(), links.end(),
                   [](const LinkLoad& a, const LinkLoad& b) { return a.use > b.use; });
  return links;
}

std::pair<std::string, std::string> kind_of(const std::string& name, MachineId machine,
                                            const Cluster& cluster) {
  if (!machine.valid()) return {std::string(), without_numbers(name)};
  const Machine& whose = cluster.machine(machine);
  return {whose.group, without_numbers(name.substr(whose.name.size()))};
}

std::vector<LinkLoad> busiest_of_each_kind(const std::vector<LinkLoad>& links, const Cluster& cluster) {
  std::vector<LinkLoad> busiest;
  std::set<std::pair<std::string, std::string>> seen;
  for (const LinkLoad& load : links) {
    const Link& link = cluster.link(load.link);
    if (seen.insert(kind_of(link.name, link.machine, cluster)).second) busiest.push_back(load);
  }
  return busiest;
}

Instant end_of(const Plan& plan, const Record& record, int iteration) {
  Instant end;
  for (const Op& op : plan.ops()) {
    if (takes_sums(op.kind)) end = std::max(end, record.of(op.id, iteration).completed);
  }
  return end;
}

Interval measured_time(const Plan& plan, const Record& record, int warm_up) {
  const int iterations = static_cast<int>(record.iterations.size());
  return {warm_up == 0 ? Instant() : end_of(plan, record, warm_up - 1), end_of(plan, record, iterations - 1)};
}

Report report(const Plan& plan, const Cluster& cluster, const Workload& workload, const Record& record,
              int warm_up) {
  return report(plan, cluster, WorkTable(plan, cluster), workload, record, warm_up);
}

Report report(const Plan& plan, const Cluster& cluster, const WorkTable& works, const Workload& workload,
              const Record& record, int warm_up) {
  const int iterations = static_cast<int>(record.iterations.size());
  WEIR_CHECK(warm_up >= 0 && warm_up < iterations, warm_up, iterations);
  const int measured = iterations - warm_up;
  const auto [begin, end] = measured_time(plan, record, warm_up);

  Report report;
  report.first = end_of(plan, record, 0) - Instant(0);
  report.iteration = (end - begin) / measured;
  report.compute = longest_compute(plan, record, begin, end) / measured;
  report.exposed = report.iteration - report.compute;
  report.communication = communication(plan, record, warm_up) / measured;
  const double seconds = report.communication.seconds();
  report.goodput = seconds > 0
                       ? BytesPerSecond(std::llround(static_cast<double>(workload.size().count()) / seconds))
                       : BytesPerSecond::unlimited();
  std::int64_t samples = 0;
  for (const MachineId machine : cluster.gpu_machines()) {
    samples += workload.trace().batch * static_cast<std::int64_t>(cluster.machine(machine).gpus.size());
  }
  if (report.iteration > Duration(0)) {
    report.samples_per_second = static_cast<double>(samples) / report.iteration.seconds();
  }
  report.links = links_by_use(plan, cluster, works, report.iteration);
  // In one pass over the buffers, because there is one for each pair of machines.
  report.host_memory.resize(plan.machines());
  report.gpu_memory.resize(plan.machines());
  for (const Buffer& buffer : plan.buffers()) {
    const bool host = buffer.place == Memory::Kind::kHost;
    (host ? report.host_memory : report.gpu_memory)[buffer.machine.index()] += buffer.size;
  }
  return report;
}

}  // namespace weir
