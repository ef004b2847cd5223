// A process's settings for a training session, from whoever starts it: a document or environment variables.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "backends/real/session/session_layout.h"
#include "backends/real/wire/socket.h"

namespace weir::real {

/// A value. weir.h explains each setting.
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

/// Looks up an environment variable. None if it is unset or empty.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// Reads the JSON object, and the environment for settings that it lacks. `server` is for processes that only
/// sum. Errors name the setting or the variable.
Result<SessionSettings> read_session_settings(const std::string& json, const Environment& environment,
                                              bool server);

/// The address at which the leader listens. Fails unless the setting is "HOST:PORT".
Result<Address> leader_address(const SessionSettings& settings);

}  // namespace weir::real
