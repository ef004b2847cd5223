#include "backends/real/transport/transport_choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/real/transport/wires.h"

namespace weir::real {
namespace {

bool any_has(TransportChoice choice, bool WireTraits::*trait) {
  const Wire* const only = only_wire(choice);
  if (only != nullptr) return only->traits.*trait;
  return std::any_of(wires().begin(), wires().end(), [&](const Wire& wire) { return wire.traits.*trait; });
}

}  // namespace

std::vector<Named<TransportChoice>> enum_names(TransportChoice /*choice*/) {
  std::vector<Named<TransportChoice>> names;
  for (const Wire& wire : wires()) names.push_back({choice_of(wire.name), wire.name});
  names.push_back({TransportChoice::kAuto, "auto"});
  return names;
}

TransportChoice choice_of(std::string_view wire) {
  const Wire* const found = find_wire(wire);
  WEIR_CHECK(found != nullptr, wire);
  return static_cast<TransportChoice>(found - wires().data());
}

const Wire* only_wire(TransportChoice choice) {
  return choice == TransportChoice::kAuto ? nullptr : &wires()[static_cast<std::size_t>(choice)];
}

bool shares_memory(TransportChoice choice) { return any_has(choice, &WireTraits::within_host); }

bool may_use_devices(TransportChoice choice) { return any_has(choice, &WireTraits::uses_devices); }

Result<void> check_messages(const Plan& plan, MachineId machine, TransportChoice choice) {
  const Wire* const only = only_wire(choice);
  if (only != nullptr && only->traits.reaches_gpus) return {};
  for (const Op& op : plan.ops(machine)) {
    if (!is_message(op.kind)) continue;
    const Slice& slice = main_slice(op);
    if (plan.buffer(slice.buffer).place == Memory::Kind::kHost) continue;
    const auto reaches = std::find_if(wires().begin(), wires().end(),
                                      [](const Wire& wire) { return wire.traits.reaches_gpus; });
    WEIR_CHECK(reaches != wires().end());
    return failure(
        fmt::format("{}: a NIC must read or write GPU memory: take --transport {}, another strategy, or "
                    "another 'local' stage",
                    plan.strategy(), reaches->name));
  }
  return {};
}

}  // namespace weir::real
