// All machines of a plan as threads of the test, which a real wire joins.
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

/// The wires of the table that any host has, and those for which it needs devices.
std::vector<const Wire*> wires_of_any_host();
std::vector<const Wire*> wires_over_devices();

/// A job on this host. A resource: its buffers live as long as it.
class ThreadWorld {
 public:
  struct Settings {
    int channels = 1;
    int threads = 1;  // of each: workers
    TransportChoice choice = TransportChoice::kTcp;
    std::vector<std::string> hosts = {"127.0.0.1"};  // addresses that machines listen at, in turn
    bool sealed = false;
    bool gpus = false;  // whether machines use GPUs: all of them the host's, in turn
    Duration late;      // by which the last machine begins after the others
    DriveSettings drive;
    ChannelSettings transport;
    /// What a computation does, if anything, on a thread of its machine's. Else it only takes its time.
    std::function<void(const Op& op, std::uint64_t iteration)> compute;
  };

  ThreadWorld(const Plan& plan, const Cluster& cluster) : plan_(plan), cluster_(cluster) {}

  /// Of machine `machine`, made by the first call, on GPUs if run() is to use them.
  Buffers& buffers(MachineId machine, bool gpus = false);
  Result<Record> run(const Dispatch& dispatch, int iterations, const Settings& settings);

  /// The wires that channels were joined by in the last run, by name.
  const std::set<std::string>& wires() const { return wires_; }
  /// By machine: the device of its first channel in the last run, if that was over RDMA.
  const std::vector<std::shared_ptr<const rdma::Device>>& devices() const { return devices_; }

 private:
  // Channels to the other machines, joined as the settings say.
  Result<std::vector<Channel>> join(const Meeting& own, const Descriptor& listener, const Settings& settings);

  const Plan& plan_;
  const Cluster& cluster_;
  std::vector<std::unique_ptr<Gpus>> gpus_;  // by machine; none if they are not used
  std::vector<std::unique_ptr<Buffers>> buffers_;
  std::mutex mutex_;
  std::set<std::string> wires_;
  std::vector<std::shared_ptr<const rdma::Device>> devices_;
};

}  // namespace weir::real
