// Where experiments are run, as the command line says.
#pragma once

#include <string>

#include "apps/weir/commands.h"
#include "apps/weir/real_world.h"

namespace weir {

struct WorldOptions {
  std::string on = "simulation";
  RealSettings real;
  std::string hosts;  // a file
  std::string remote_shell = "ssh -o BatchMode=yes";
};

/// Adds them to the command's line. They outlive the command.
void add_world(CLI::App& command, WorldOptions& options);

/// The world that they mean. Fails if they do not go together, or name a file that cannot be read.
Result<World> world_of(const WorldOptions& options);

}  // namespace weir
