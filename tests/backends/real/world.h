// All machines of a plan as threads of the test, joined by a real wire.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "backends/real/memory/buffers.h"
#include "backends/real/port/drive.h"
#include "backends/real/transport/channel_transport.h"
#include "backends/real/transport/wires.h"
#include "backends/real/wire/rdma/device.h"
#include "core/simulate/simulation.h"

namespace weir::real {

/// The wires of the table that work on any host, and those that need devices.
std::vector<const Wire*> wires_of_any_host();
std::vector<const Wire*> wires_over_devices();

/// A job on this host. A resource: its buffers live as long as it does.
class ThreadWorld {
 public:
  struct Settings {
    int channels = 1;
    int threads = 1;  // workers of each machine
    TransportChoice choice = TransportChoice::kTcp;
    std::vector<std::string> hosts = {"127.0.0.1"};  // addresses where machines listen, in turn
    bool sealed = false;
    bool gpus = false;  // whether machines use GPUs; they get the host's in turn
    Duration late;      // how long the last machine starts after the others
    DriveSettings drive;
    ChannelSettings transport;
    /// What a compute op does, on a thread of its machine. Without it, the op only takes its time.
    std::function<void(const Op& op, std::uint64_t iteration)> compute;
  };

  ThreadWorld(const Plan& plan, const Cluster& cluster) : plan_(plan), cluster_(cluster) {}

  /// The buffers of this machine. The first call makes them, on GPUs if run() will use GPUs.
  Buffers& buffers(MachineId machine, bool gpus = false);
  Result<Record> run(const Dispatch& dispatch, int iterations, const Settings& settings);

  /// The names of the wires that joined the channels in the last run.
  const std::set<std::string>& wires() const { return wires_; }
  /// For each machine, the device of its first channel in the last run, if that channel used RDMA.
  const std::vector<std::shared_ptr<const rdma::Device>>& devices() const { return devices_; }

 private:
  // Joins channels to the other machines as the settings say.
  Result<std::vector<Channel>> join(const Meeting& own, const Descriptor& listener, const Settings& settings);

  const Plan& plan_;
  const Cluster& cluster_;
  std::vector<std::unique_ptr<Gpus>> gpus_;  // for each machine; empty if GPUs are not used
  std::vector<std::unique_ptr<Buffers>> buffers_;
  std::mutex mutex_;
  std::set<std::string> wires_;
  std::vector<std::shared_ptr<const rdma::Device>> devices_;
};

}  // namespace weir::real
