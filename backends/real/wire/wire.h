// What every wire offers. Each folder beside this file holds one wire (tcp, shm, rdma), and all of them offer
// the same names: kName, kTraits, available(), join() and make_mover(). The table of all wires is
// transport/wires.h, and whatever moves messages knows wires only by it. Meters of plain writes and checks of
// hosts know rdma itself.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/real/memory/buffers.h"
#include "backends/real/wire/channel.h"
#include "backends/real/wire/meeting.h"
#include "backends/real/wire/mover.h"
#include "backends/real/wire/nic_place.h"

namespace weir::real {

/// What holds for all that a wire moves.
struct WireTraits {
  /// Only machines of one host can use it: a sender writes into the receiver's memory, which both have
  /// mapped. That memory must be made for it (Buffers::make_shared).
  bool within_host = false;
  /// Devices of the network move the bytes as they lie in memory, so nothing can be sealed. Machines need
  /// addresses of such devices.
  bool uses_devices = false;
  /// Messages leave over the channel's data connection, at the channel's pace.
  bool paced = false;
  /// Large messages go in pieces, one over each channel of their lane (pieces.h).
  bool cuts_messages = false;
  /// It takes messages from the memory of GPUs and brings them there. Other wires reach host memory only.
  bool reaches_gpus = false;
};

/// All that a wire may need to know in order to join this machine with its peers.
struct Joining {
  const Meeting& meeting;
  const Plan& plan;
  const Buffers& buffers;      // of this machine
  std::vector<NicPlace> nics;  // of this machine; none if addresses alone are to choose devices
};

/// Whether a wire may leave channels to another one.
enum class Use {
  kIfPossible,
  kAlways,
};

/// The lanes that a wire could not join though they might have been its own, and why.
using Refusals = std::map<Lane, std::string>;

/// One row of the table.
struct Wire {
  std::string_view name;  // as users write it
  WireTraits traits;

  /// Fails, with the reason, if a machine that listens at that address of this host cannot use the wire.
  Result<void> (*available)(const std::string& host);

  /// Gives a medium to each channel that has none yet and that can be this wire's. What both ends must know
  /// of each other goes over the channel's data connection, so that it reaches only those who have shown the
  /// job's token. All peers call it at the same time. Blocks, for the meeting's patience at most. Fails, and
  /// names the peer, if one of the two ends cannot use a wire that is to be used always, or if a peer says
  /// what the plan does not allow.
  Result<Refusals> (*join)(std::vector<Channel>& channels, const Joining& joining, Use use);

  /// What moves the messages of a channel that this wire has joined.
  std::unique_ptr<Mover> (*make_mover)(Channel channel, const MoverContext& context);
};

}  // namespace weir::real
