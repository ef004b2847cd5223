// What a machine must have to be let into a job: where the coordinator listens, and keys that nobody else
// has.
#pragma once

#include <string>

#include "backends/real/wire/meeting.h"
#include "core/base/result.h"

namespace weir::real {

/// Made once for each job; whoever has it can take part. A value, small enough for a file, a pipe or an
/// environment variable.
struct JobKey {
  std::string job;       // a name, for messages
  std::string endpoint;  // of the coordinator, as ZeroMQ writes it: "tcp://10.0.0.1:4711", "ipc:///tmp/x"
  std::string server_public;  // CURVE keys in Z85, 40 characters each
  std::string member_public;
  std::string member_secret;
};

/// A key of a new job together with the coordinator's own secret, which stays with it.
struct FreshKey {
  JobKey key;
  std::string server_secret;
};
Result<FreshKey> make_key(const std::string& job, const std::string& endpoint);
/// The same from a secret that all processes of the job know: the same key on each.
Result<FreshKey> derive_key(const Token& secret, const std::string& job, const std::string& endpoint);

/// As JSON on one line, and back. What is missing or malformed is told by its name in the document.
std::string text(const JobKey& key);
Result<JobKey> parse_key(const std::string& text, const std::string& file);

}  // namespace weir::real
