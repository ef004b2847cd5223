// What a machine needs to join a job: the address of the coordinator, and keys that nobody else has.
#pragma once

#include <string>

#include "backends/real/wire/meeting.h"
#include "core/base/result.h"

namespace weir::real {

/// Made once for each job. Whoever has it can take part. A value, small enough for a file, a pipe or an
/// environment variable.
struct JobKey {
  std::string job;       // a name, for messages
  std::string endpoint;  // of the coordinator, as ZeroMQ writes it: "tcp://10.0.0.1:4711", "ipc:///tmp/x"
  std::string server_public;  // CURVE keys in Z85, 40 characters each
  std::string member_public;
  std::string member_secret;
};

/// The key of a new job, with the coordinator's own secret, which only the coordinator keeps.
struct FreshKey {
  JobKey key;
  std::string server_secret;
};
Result<FreshKey> make_key(const std::string& job, const std::string& endpoint);
/// Derives the key from a secret that all processes of the job know. Each process gets the same key.
Result<FreshKey> derive_key(const Token& secret, const std::string& job, const std::string& endpoint);

/// As JSON on one line, and back. Errors name the field that is missing or malformed.
std::string text(const JobKey& key);
Result<JobKey> parse_key(const std::string& text, const std::string& file);

}  // namespace weir::real
