// What a process of a training session is told about it: by whoever starts it, in a document or in its
// environment.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "backends/real/session/session_layout.h"
#include "backends/real/wire/socket.h"

namespace weir::real {

/// A value; weir.h says what each setting is.
struct SessionSettings {
  Role role;
  int size = 1;
  int servers = 0;
  int local_rank = 0;
  int local_size = 1;
  std::string leader;
  std::string secret;
  std::string listen;
  std::string strategy = LayoutSettings().strategy;
  std::string topology;
  std::string settings;
  std::string options;
  BytesPerSecond nic_rate = LayoutSettings().nic_rate;
  double patience = 600;
  double warn_after = 60;
  int threads = 0;
  bool encrypt = false;
  TransportChoice transport = TransportChoice::kAuto;
};

/// A variable of the environment; none if it is not set. An empty one counts as not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// What the JSON object says, and the environment of what it leaves out. `server`: of a process that only
/// sums. Complaints name the setting, or the variable.
Result<SessionSettings> read_session_settings(const std::string& json, const Environment& environment,
                                              bool server);

/// Where the leader listens. Fails unless the setting is "HOST:PORT".
Result<Address> leader_address(const SessionSettings& settings);

}  // namespace weir::real
