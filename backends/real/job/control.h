// The control channel of a job: small messages between the coordinator and the machines, over ZeroMQ with
// CURVE. It is encrypted, and only holders of the job's key can connect.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "backends/real/job/key.h"
#include "core/base/units.h"
#include "core/protocol/note.h"

namespace weir::real {

/// Longer notes are not received.
constexpr Bytes kLargestNote{std::int64_t{256} << 20};

/// One end of the channel. One owner thread. A thread inside carries the notes. So notes leave, and the other
/// end hears that this one is alive, even while the owner is busy.
class ControlSocket {
 public:
  /// The coordinator's end. It listens at the key's endpoint; port * takes a free port.
  static Result<std::unique_ptr<ControlSocket>> listen(const FreshKey& key);
  /// A machine's end. The coordinator may start later.
  static Result<std::unique_ptr<ControlSocket>> join(const JobKey& key);
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;
  ~ControlSocket();

  /// Where the coordinator's end listens.
  const std::string& endpoint() const { return endpoint_; }

  /// Never blocks. On destruction, notes that were sent get one second to leave.
  void send(const Note& note);
  /// On destruction, do not wait for notes that have not left: the other end is gone or wants none.
  void drop_unsent();
  /// From now on, says every half second that this process is alive. A machine says so to the coordinator.
  /// The coordinator says so to the machine with this connection.
  void keep_alive(const std::string& connection = {});
  /// At a machine's end: for how long attempts to connect have failed. Zero while it is connected or the
  /// first attempt is still under way.
  Duration refused() const;
  /// The next note; none if none came in time. Drops what is not a note.
  std::optional<Note> receive(Duration patience);

 private:
  struct Parts;
  explicit ControlSocket(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
  std::string endpoint_;
};

}  // namespace weir::real
