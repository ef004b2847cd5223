#include "core/strategies/update_barrier.h"

namespace weir {
namespace {

BufferId room(PlanBuilder& builder, MachineId machine) {
  return builder.add({machine, Buffer::Role::kScratch, Memory::Kind::kHost, 0, 1, Bytes(0)});
}

}  // namespace

void UpdateBarrier::close(PlanBuilder& builder, MachineId chief) const {
  if (sums_.empty()) return;
  const Part& any = sums_.begin()->second.front().part;
  const BufferId notes = room(builder, chief);
  struct Server {
    MachineId machine;
    Slice note;
    OpId report;
  };
  std::vector<Server> servers;
  std::vector<OpId> reports;
  for (const auto& [machine, sums] : sums_) {
    std::vector<OpId> complete;
    for (const Sum& sum : sums) complete.push_back(sum.complete);
    const Sum& first = sums.front();
    const Bytes word = size(first.part.dtype);
    Slice source = first.total;
    source.size = word;
    const Slice note = builder.reserve(notes, word, first.part.dtype);
    const Message report = add_message(builder, first.part, {machine, 0, source}, {chief, 0, note});
    builder.order(join(builder, first.part, machine, complete), report.send);
    builder.carry(report.send, first.begun);
    servers.push_back({machine, note, report.receive});
    reports.push_back(report.receive);
  }
  const OpId all = join(builder, any, chief, reports);
  for (const Server& server : servers) {
    const std::vector<Sum>& sums = sums_.at(server.machine);
    const Part& part = sums.front().part;
    const Slice token = builder.reserve(room(builder, server.machine), server.note.size, part.dtype);
    const Message message = add_message(builder, part, {chief, 0, server.note}, {server.machine, 0, token});
    builder.order(all, message.send);
    builder.carry(message.send, server.report);
    for (const Sum& sum : sums) {
      for (const OpId send : sum.sends) builder.order(message.receive, send);
    }
  }
}

}  // namespace weir
