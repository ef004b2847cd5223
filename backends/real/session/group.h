// Tensors that are planned together, on one machine of a session. It runs the machine's part of their plan
// until the session ends.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "backends/real/compute/workers.h"
#include "backends/real/job/connect.h"
#include "backends/real/memory/buffers.h"
#include "backends/real/session/application.h"
#include "backends/real/session/kept_tensors.h"
#include "backends/real/session/session_layout.h"
#include "backends/real/transport/channel_transport.h"
#include "core/hardware/work.h"

namespace weir::real {

struct GroupSettings {
  PeerSettings peers;  // as machines of the plan's cluster
  Dispatch dispatch;
  int workers = 1;     // threads that sum and copy
  int io_threads = 1;  // threads that move bytes
};

/// Copies between the application's memory and the group's. Its workers do so, or the GPU that the memory is
/// on. A resource of the group's thread.
class ApplicationCopies final : public Engine {
 public:
  /// All arguments outlive it.
  ApplicationCopies(const Plan& plan, MachineId self, const Buffers& buffers, Application& application,
                    Engine& workers, Inbox& inbox);
  void put(const Op& op, std::uint64_t round) override;

 private:
  Result<void> open(int device);

  const Plan* plan_;
  MachineId self_;
  const Buffers* buffers_;
  Application* application_;
  Engine* workers_;
  Inbox* inbox_;
  int device_ = -1;             // the device that it has opened
  std::unique_ptr<Gpus> gpus_;  // GPUs with only that device
  std::unique_ptr<GpuEngine> engine_;
};

/// Its own thread owns the machine's node. Each member says who else may call it.
class Group {
 public:
  /// Connects with all machines that take part. Fails if memory is missing or a peer does not come. `kept`
  /// does the plan's updates on servers that keep tensors; their groups share it and the plan. Else it is
  /// null. The group's thread calls `done`.
  static Result<std::unique_ptr<Group>> open(std::shared_ptr<const TensorPlan> tensors,
                                             std::shared_ptr<KeptTensors> kept, const GroupSettings& settings,
                                             std::span<const Descriptor> listeners,
                                             std::function<void(const std::shared_ptr<Transfer>&)> done);
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  /// Ends the thread, wherever it is. Afterwards nothing touches memory of transfers.
  ~Group();

  /// Call it once, when all peers are ready.
  void begin();

  /// Where a rank hands its tensors over. Any thread.
  Application& application() { return *application_; }
  /// The reason if the group has failed. Any thread.
  std::optional<Error> error() const;

 private:
  Group() = default;
  void work(const Op& op);
  void run();

  MachineId self_;
  GroupSettings settings_;
  std::shared_ptr<const TensorPlan> plan_;
  std::shared_ptr<KeptTensors> kept_;
  std::unique_ptr<Buffers> buffers_;
  std::unique_ptr<WorkTable> works_;
  Inbox inbox_;
  std::unique_ptr<Application> application_;
  std::unique_ptr<Workers> workers_;
  std::unique_ptr<ChannelTransport> transport_;
  std::atomic<bool> stop_ = false;
  mutable std::mutex mutex_;
  std::optional<Error> error_;
  std::thread thread_;
};

}  // namespace weir::real
