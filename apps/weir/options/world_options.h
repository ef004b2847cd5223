// Where experiments are run, as the command line says.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/experiment/settings_file.h"
#include "studies/real/real_world.h"
#include "studies/run/simulated_world.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace weir {

struct WorldOptions {
  std::string on = "simulation";
  SimulationOptions simulation;
  RealSettings real;
  std::string hosts;  // a file
  std::string remote_shell = "ssh -o BatchMode=yes";
  const CLI::Option* poll = nullptr;
  std::vector<const CLI::Option*> of_simulation;  // that mean something there alone
  std::vector<const CLI::Option*> of_clusters;
  std::vector<const CLI::Option*> of_real_runs;
};

/// Adds --transport or what it is called there, by the names of these choices; all if none.
CLI::Option* add_transport(CLI::App& command, real::TransportChoice& into, const std::string& about,
                           const std::string& name = "--transport",
                           const std::vector<real::TransportChoice>& among = {});

/// Adds --engine and --precision, of simulations.
void add_engine(CLI::App& command, SimulationOptions& into);

/// Adds --poll.
CLI::Option* add_poll(CLI::App& command, Duration& into);

/// Adds them to the command's line: --on too, if the command may choose. They outlive the command.
void add_world(CLI::App& command, WorldOptions& options, bool choose);

/// Takes over what a settings file says of real runs, where the command line does not.
void take(const Streams& streams, WorldOptions& options);

/// The streams that the command line itself gives, by their names in settings files, with its options.
std::map<std::string, std::string> given_streams(const WorldOptions& options);

/// What chooses the same world on a command line: " --engine fluid", " --on lab --channels 2"; empty if
/// nothing has to be said.
std::string words(const WorldOptions& options);

/// The world that they mean. Fails if they do not go together, or name a file that cannot be read. Not for a
/// command line that has not been read.
Result<World> world_of(const WorldOptions& options);

}  // namespace weir
