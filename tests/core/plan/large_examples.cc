#include "tests/core/plan/large_examples.h"

#include <utility>

namespace weir::examples {
namespace {

constexpr Bytes kChunk(64);

Op op(MachineId machine, OpKind kind, Slice from, Slice into, std::size_t layer) {
  Op made;
  made.machine = machine;
  made.kind = kind;
  made.from = from;
  made.into = into;
  made.layer = static_cast<int>(layer);
  return made;
}

// The machines with GPUs: their buffers, and the chains of backward and forward ops.
struct Workers {
  Workers(PlanBuilder& plan, const Size& shape, Bytes part_bytes)
      : builder(plan), size(shape), part(part_bytes) {
    const Bytes layer_bytes = static_cast<std::int64_t>(size.parts) * part;
    for (std::size_t m = 0; m < size.machines; ++m) {
      const MachineId machine(m);
      gradient.push_back(builder.add({.machine = machine,
                                      .role = Buffer::Role::kGradient,
                                      .place = Memory::Kind::kGpu,
                                      .size = static_cast<std::int64_t>(size.layers) * layer_bytes}));
      backward.emplace_back(size.layers);
      forward.emplace_back(size.layers);
      for (std::size_t layer = 0; layer < size.layers; ++layer) {
        const Slice slice{gradient[m], Replicas::each(builder.all(gradient[m])), offset(layer, 0),
                          layer_bytes};
        backward[m][layer] = builder.add(op(machine, OpKind::kBackward, {}, slice, layer));
        forward[m][layer] = builder.add(op(machine, OpKind::kForward, slice, {}, layer));
      }
      for (std::size_t layer = 1; layer < size.layers; ++layer) {
        builder.order(backward[m][layer], backward[m][layer - 1]);
        builder.order(forward[m][layer - 1], forward[m][layer]);
      }
      builder.carry(forward[m].back(), backward[m].back());
    }
  }

  Bytes offset(std::size_t layer, std::size_t number) const {
    return static_cast<std::int64_t>((size.layers - 1 - layer) * size.parts + number) * part;
  }

  // Adds a message: its send and its receive.
  std::pair<OpId, OpId> message(std::size_t source, Slice from, std::size_t target, Slice into,
                                std::size_t layer) {
    const MessageId id = builder.add_message();
    Op send = op(MachineId(source), OpKind::kSend, from, {}, layer);
    send.peer = MachineId(target);
    send.message = id;
    Op receive = op(MachineId(target), OpKind::kReceive, {}, into, layer);
    receive.peer = MachineId(source);
    receive.message = id;
    const OpId first = builder.add(send);
    return {first, builder.add(receive)};
  }

  PlanBuilder& builder;
  const Size& size;
  Bytes part;
  std::vector<BufferId> gradient;
  std::vector<std::vector<OpId>> backward;  // [machine][layer]
  std::vector<std::vector<OpId>> forward;
};

// The landing slots for one sender on the server, which it uses in turn.
struct Landing {
  std::vector<OpId> first;  // for each slot: its first receive and its last sum
  std::vector<OpId> last;
};

void add_part(Workers& workers, std::size_t layer, std::size_t number, std::size_t turn, BufferId sums,
              BufferId ring, std::vector<Landing>& landings) {
  PlanBuilder& builder = workers.builder;
  const Size& size = workers.size;
  const std::size_t server = size.machines;
  const Bytes at = workers.offset(layer, number);
  const Slice sum{sums, 0, at, workers.part};
  std::vector<OpId> before;  // what the sends wait for
  std::vector<std::pair<OpId, OpId>> up;
  OpId base;
  for (std::size_t m = 0; m < size.machines; ++m) {
    const std::size_t slot = turn % size.slots;
    const auto place = static_cast<std::int64_t>(m * size.slots + slot);
    const Slice landing{ring, 0, place * workers.part, workers.part};
    up.push_back(workers.message(m, {workers.gradient[m], 0, at, workers.part}, server,
                                 m == 0 ? sum : landing, layer));
    builder.order(workers.backward[m][layer], up[m].first);
    if (m == 0) {
      base = up[m].second;
      if (size.machines == 1) before.push_back(base);
      continue;
    }
    const OpId add = builder.add(op(MachineId(server), OpKind::kSum, landing, sum, layer));
    builder.order(up[m].second, add);
    builder.order(base, add);
    builder.order(landings[m].last[slot], up[m].second);
    if (!landings[m].first[slot].valid()) landings[m].first[slot] = up[m].second;
    landings[m].last[slot] = add;
    if (size.chained) {
      base = add;
      before.clear();
    }
    before.push_back(add);
  }
  for (std::size_t m = 0; m < size.machines; ++m) {
    const auto down = workers.message(server, sum, m, {workers.gradient[m], 0, at, workers.part}, layer);
    for (const OpId add : before) builder.order(add, down.first);
    builder.carry(down.first, up[0].second);
    builder.order(up[m].first, down.second);
    builder.order(down.second, workers.forward[m][layer]);
  }
}

void add_chunk(Workers& workers, std::size_t layer, std::size_t number, std::size_t chunk,
               const std::vector<BufferId>& landing) {
  PlanBuilder& builder = workers.builder;
  const std::size_t n = workers.size.machines;
  const Bytes at = workers.offset(layer, number) + static_cast<std::int64_t>(chunk) * kChunk;
  const auto own = [&](std::size_t m) { return Slice{workers.gradient[m], 0, at, kChunk}; };
  OpId ready = workers.backward[chunk][layer];
  std::vector<OpId> sent(n);
  for (std::size_t step = 1; step < n; ++step) {
    const std::size_t source = (chunk + step - 1) % n;
    const std::size_t target = (chunk + step) % n;
    const Slice slot{landing[target], 0, at, kChunk};
    const auto [send, receive] = workers.message(source, own(source), target, slot, layer);
    const OpId add = builder.add(op(MachineId(target), OpKind::kSum, slot, own(target), layer));
    builder.order(ready, send);
    builder.order(receive, add);
    builder.order(workers.backward[target][layer], add);
    if (!workers.size.implied) builder.carry(add, receive);
    sent[source] = send;
    ready = add;
  }
  const std::size_t last = (chunk + n - 1) % n;
  builder.order(ready, workers.forward[last][layer]);
  for (std::size_t step = 0; step + 1 < n; ++step) {
    const std::size_t source = (last + step) % n;
    const std::size_t target = (last + step + 1) % n;
    const auto [send, receive] = workers.message(source, own(source), target, own(target), layer);
    builder.order(ready, send);
    builder.order(sent[target], receive);
    builder.order(receive, workers.forward[target][layer]);
    builder.carry(send, workers.backward[source][layer]);
    ready = receive;
  }
}

}  // namespace

PlanBuilder large_server(const Size& size) {
  PlanBuilder builder("large server", size.machines + 1);
  Workers workers(builder, size, kChunk);
  const MachineId server(size.machines);
  const auto parts = static_cast<std::int64_t>(size.layers * size.parts);
  const auto slots = static_cast<std::int64_t>(size.machines * size.slots);
  const BufferId sums =
      builder.add({.machine = server, .role = Buffer::Role::kAccumulator, .size = parts * kChunk});
  const BufferId ring =
      builder.add({.machine = server, .role = Buffer::Role::kScratch, .size = slots * kChunk});
  std::vector<Landing> landings(size.machines,
                                {std::vector<OpId>(size.slots), std::vector<OpId>(size.slots)});
  std::size_t turn = 0;
  for (std::size_t layer = size.layers; layer-- > 0;) {
    for (std::size_t number = 0; number < size.parts; ++number) {
      add_part(workers, layer, number, turn++, sums, ring, landings);
    }
  }
  if (size.implied) return builder;
  for (const Landing& landing : landings) {
    for (std::size_t slot = 0; slot < size.slots; ++slot)
      builder.carry(landing.last[slot], landing.first[slot]);
  }
  return builder;
}

PlanBuilder large_ring(const Size& size) {
  PlanBuilder builder("large ring", size.machines);
  const Bytes part = static_cast<std::int64_t>(size.machines) * kChunk;
  Workers workers(builder, size, part);
  std::vector<BufferId> landing;
  for (std::size_t m = 0; m < size.machines; ++m) {
    landing.push_back(builder.add({.machine = MachineId(m),
                                   .role = Buffer::Role::kScratch,
                                   .place = Memory::Kind::kGpu,
                                   .size = static_cast<std::int64_t>(size.layers * size.parts) * part}));
  }
  for (std::size_t layer = size.layers; layer-- > 0;) {
    for (std::size_t number = 0; number < size.parts; ++number) {
      for (std::size_t chunk = 0; chunk < size.machines; ++chunk)
        add_chunk(workers, layer, number, chunk, landing);
    }
  }
  return builder;
}

PlanBuilder mixed_sizes(std::size_t tensors) {
  constexpr std::size_t kSlots = 4;
  PlanBuilder builder("mixed sizes", 2);
  // A permutation of 4, 8, ... bytes.
  const auto bytes = [&](std::size_t i) {
    return Bytes(4 + static_cast<std::int64_t>(i * 7919 % tensors) * 4);
  };
  Bytes total;
  for (std::size_t i = 0; i < tensors; ++i) total += bytes(i);
  const Size size{.machines = 1, .layers = 1, .parts = 1};
  Workers workers(builder, size, total);
  const MachineId server(1);
  const Bytes slot(4 * static_cast<std::int64_t>(tensors));
  const BufferId ring = builder.add(
      {.machine = server, .role = Buffer::Role::kScratch, .size = static_cast<std::int64_t>(kSlots) * slot});
  const BufferId sums = builder.add({.machine = server, .role = Buffer::Role::kAccumulator, .size = total});
  Landing landing{std::vector<OpId>(kSlots), std::vector<OpId>(kSlots)};
  Bytes at;
  for (std::size_t i = 0; i < tensors; ++i) {
    const std::size_t turn = i % kSlots;
    const Slice own{workers.gradient[0], 0, at, bytes(i)};
    const Slice landed{ring, 0, static_cast<std::int64_t>(turn) * slot, bytes(i)};
    const Slice sum{sums, 0, at, bytes(i)};
    const auto up = workers.message(0, own, 1, landed, 0);
    const OpId copy = builder.add(op(server, OpKind::kCopy, landed, sum, 0));
    const auto down = workers.message(1, sum, 0, own, 0);
    builder.order(workers.backward[0][0], up.first);
    builder.order(landing.last[turn], up.second);
    builder.order(up.second, copy);
    builder.order(copy, down.first);
    builder.order(up.first, down.second);
    builder.order(down.second, workers.forward[0][0]);
    builder.carry(down.first, copy);
    if (!landing.first[turn].valid()) landing.first[turn] = up.second;
    landing.last[turn] = copy;
    at += bytes(i);
  }
  for (std::size_t turn = 0; turn < kSlots; ++turn) builder.carry(landing.last[turn], landing.first[turn]);
  return builder;
}

}  // namespace weir::examples
