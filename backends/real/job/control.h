// The control channel of a job: small messages between the coordinator and the machines, over ZeroMQ with
// CURVE: encrypted, and closed to whoever has not the job's key.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "backends/real/job/key.h"
#include "core/base/units.h"
#include "core/protocol/note.h"

namespace weir::real {

/// A note that is longer is not received.
constexpr Bytes kLargestNote{std::int64_t{256} << 20};

/// One end of the channel. One owner thread; a thread of its own carries the notes, so that they go, and the
/// other end hears that this one is alive, whatever the owner is busy with.
class ControlSocket {
 public:
  /// The coordinator's end, listening at the key's endpoint; a port of * takes a free one.
  static Result<std::unique_ptr<ControlSocket>> listen(const FreshKey& key);
  /// A machine's end. The coordinator need not be there yet.
  static Result<std::unique_ptr<ControlSocket>> join(const JobKey& key);
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;
  ~ControlSocket();

  /// Where the coordinator's end listens.
  const std::string& endpoint() const { return endpoint_; }

  /// Never blocks. What was sent before the socket goes is given a second to leave.
  void send(const Note& note);
  /// The other end is gone, or wants nothing more: the socket goes without waiting for what has not left.
  void drop_unsent();
  /// From now on says every half second that this process is alive: a machine to the coordinator, and that to
  /// the machine whose connection it is.
  void keep_alive(const std::string& connection = {});
  /// At a machine's end: for how long attempts to connect have failed; nothing while it is connected, or if
  /// the first attempt is under way still.
  Duration refused() const;
  /// The next note; none if none came in that time. What is no note is dropped.
  std::optional<Note> receive(Duration patience);

 private:
  struct Parts;
  explicit ControlSocket(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
  std::string endpoint_;
};

}  // namespace weir::real
