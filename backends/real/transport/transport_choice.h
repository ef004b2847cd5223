// Which wires the messages of a job may move through, as users say it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/ids.h"
#include "core/document/fields.h"

namespace weir {
class Plan;
}

namespace weir::real {

struct Wire;

/// One of the wires by its number in the table (wires.h), or all of them: each where it can be.
enum class TransportChoice : std::uint8_t {
  kTcp = 0,
  kAuto = 0xff,
};

/// "tcp", "shm" and so on, as the table has them, and "auto".
std::vector<Named<TransportChoice>> enum_names(TransportChoice choice);

/// The choice of the wire with that name.
TransportChoice choice_of(std::string_view wire);
/// The wire that is chosen; null if all are.
const Wire* only_wire(TransportChoice choice);

/// Whether messages may move through memory that machines of one host share.
bool shares_memory(TransportChoice choice);
/// Whether devices of the network may move messages.
bool may_use_devices(TransportChoice choice);

/// Fails if a NIC of the machine is to move what lies on its GPUs, unless all messages go over a wire that
/// reaches GPUs: others leave from host memory, and arrive there.
Result<void> check_messages(const Plan& plan, MachineId machine, TransportChoice choice);

}  // namespace weir::real
