// Tensors that are planned together, on one machine of a session: their part of the plan, run for as long as
// the session lasts.
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
  int io_threads = 1;  // that move bytes
};

/// Copies between memory of the application and the group's: by its workers, or by the GPU that the memory is
/// on. A resource of the group's thread.
class ApplicationCopies final : public Engine {
 public:
  /// All outlive it.
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
  int device_ = -1;             // that it has opened
  std::unique_ptr<Gpus> gpus_;  // which is all of these
  std::unique_ptr<GpuEngine> engine_;
};

/// A thread of its own owns the machine's node; see the members for who else may call what.
class Group {
 public:
  /// Connects with all that take part. Fails if there is no memory, or a peer does not come. `kept` does the
  /// plan's updates: of a server of kept tensors, whose groups share it and the plan; else null. `done` is
  /// called by the group's thread.
  static Result<std::unique_ptr<Group>> open(std::shared_ptr<const TensorPlan> tensors,
                                             std::shared_ptr<KeptTensors> kept, const GroupSettings& settings,
                                             std::span<const Descriptor> listeners,
                                             std::function<void(const std::shared_ptr<Transfer>&)> done);
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  /// Ends the thread, wherever it is; nothing touches memory of transfers any more.
  ~Group();

  /// All peers are ready; once.
  void begin();

  /// What the application hands over: of ranks. Any thread.
  Application& application() { return *application_; }
  /// Why the group has ended, if it has. Any thread.
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
