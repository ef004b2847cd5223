// The control channel of a job: small messages between the coordinator and the machines, over ZeroMQ with
// CURVE: encrypted, and closed to whoever has not the job's key.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "backends/real/job/key.h"
#include "core/base/units.h"

namespace weir::real {

/// What goes over the channel.
struct Note {
  std::string from;  // at the coordinator: which connection, for the answer; else empty
  std::string type;
  std::string text;  // JSON
  std::string body;  // bytes, if the type has any
};

/// One end of the channel. One owner thread.
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

  void send(const Note& note);
  /// The next note; none if none came in that time. What is no note is dropped.
  std::optional<Note> receive(Duration patience);

 private:
  struct Parts;
  explicit ControlSocket(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
  std::string endpoint_;
};

}  // namespace weir::real
