// Command-line options that choose where experiments run.
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
  std::string hosts;  // path of a file
  std::string remote_shell = "ssh -o BatchMode=yes";
  const CLI::Option* poll = nullptr;
  std::vector<const CLI::Option*> of_simulation;  // options that only simulation uses
  std::vector<const CLI::Option*> of_clusters;
  std::vector<const CLI::Option*> of_real_runs;
};

/// Adds --transport, or the option `name`. It accepts the names of the choices in `among`; of all choices if
/// empty.
CLI::Option* add_transport(CLI::App& command, real::TransportChoice& into, const std::string& about,
                           const std::string& name = "--transport",
                           const std::vector<real::TransportChoice>& among = {});

/// Adds --engine and --precision, which only simulations use.
void add_engine(CLI::App& command, SimulationOptions& into);

/// Adds --poll.
CLI::Option* add_poll(CLI::App& command, Duration& into);

/// Adds all of these options to the command; --on only if `choose`. The options outlive the command.
void add_world(CLI::App& command, WorldOptions& options, bool choose);

/// Takes the settings file's values for real runs, except those that the command line sets.
void take(const Streams& streams, WorldOptions& options);

/// The stream settings that the command line sets: name in settings files, and name of the option.
std::map<std::string, std::string> given_streams(const WorldOptions& options);

/// The options that choose the same world on a command line: " --engine fluid", " --on lab --channels 2".
/// Empty if the defaults do.
std::string words(const WorldOptions& options);

/// The world that the options choose. Fails if they contradict each other or name a file that cannot be read.
/// Call it only after the command line was parsed.
Result<World> world_of(const WorldOptions& options);

}  // namespace weir
