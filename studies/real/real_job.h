// A job: nodes that run a plan together wherever they are, and their coordinator here.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "backends/real/job/coordinator.h"
#include "backends/real/transport/channel_transport.h"
#include "studies/output/notice.h"
#include "studies/real/hosts.h"
#include "studies/real/nodes.h"
#include "studies/run/trial.h"

namespace weir {

struct RealSettings {
  // 0: as many as fast links need, within what the host's cores allow for all its machines.
  int channels = 0;    // between two machines: up to 4
  int io_threads = 0;  // of each machine, move bytes; up to 4, which fill 25 Gbps both ways
  int workers = 1;     // of each machine, sum and copy
  real::Verify verify = real::Verify::kNone;
  real::TransportChoice transport = real::TransportChoice::kTcp;
  bool encrypt = false;  // encrypt connections between hosts
  Duration poll = real::ChannelSettings{}.poll;
  std::optional<double> pace;  // multiple of the rate that the plan needs for each peer; 0: unlimited
  bool gpus = false;           // whether machines use GPUs; else host memory replaces theirs
  double patience = 30;        // seconds, for each step of a job

  Notice notice;  // what users should know; called in the process that runs the job

  // For clusters.
  std::string listen;                     // the coordinator's address
  std::vector<Host> hosts;                // by machine: where it starts nodes
  std::vector<std::string> remote_shell;  // runs a command on a host
  std::string program;                    // path of weir there
  std::string key_file;                   // written for nodes that others start; then there are no hosts
};

/// Where a job's machines are, and how they are started.
struct Site {
  std::string endpoint;      // of the coordinator; * means a free port
  real::Lab* lab = nullptr;  // the lab that the machines are in
  /// How a machine's process is started; empty if others start it.
  std::function<NodeCommand(MachineId machine, const std::string& key)> command;
  /// Called with the key before anything is started.
  std::function<Result<void>(const std::string& key)> publish_key;
  /// Called once all machines have joined, or none can join any more; not if it fails before.
  std::function<void()> joined;
};

/// A name that no other job has.
Result<std::string> job_name();

/// The command line of a machine's node.
std::vector<std::string> node_arguments(const std::string& program, MachineId machine,
                                        const std::vector<std::string>& listen, const RealSettings& settings,
                                        const std::vector<int>& gpus = {});

/// Runs the plan as a job of this name, and returns what its machines report. Fails if a machine does, and
/// names it.
Result<real::JobResult> run_job(const Planned& planned, const RealSettings& settings, const std::string& job,
                                const Site& site);

}  // namespace weir
