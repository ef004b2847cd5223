// The user's choice of the wires that messages of a job may use.
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

/// One wire, by its number in the table (wires.h), or `kAuto`: any wire, each where it is possible.
enum class TransportChoice : std::uint8_t {
  kTcp = 0,
  kAuto = 0xff,
};

/// The names of the wires in the table, such as "tcp" and "shm", and "auto".
std::vector<Named<TransportChoice>> enum_names(TransportChoice choice);

/// The choice of the wire with that name.
TransportChoice choice_of(std::string_view wire);
/// The chosen wire; null for `kAuto`.
const Wire* only_wire(TransportChoice choice);

/// Whether messages may move through memory that machines of one host share.
bool shares_memory(TransportChoice choice);
/// Whether devices of the network may move messages.
bool may_use_devices(TransportChoice choice);

/// Fails if a NIC of the machine would have to move data from or to GPU memory, unless the chosen wire
/// reaches GPUs. Other wires send from host memory and receive into it.
Result<void> check_messages(const Plan& plan, MachineId machine, TransportChoice choice);

}  // namespace weir::real
