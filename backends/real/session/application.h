// Connects a plan with the application that trains. A backward stands for a gradient that is handed over, a
// forward for a sum that is taken.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "backends/real/compute/engine.h"
#include "backends/real/compute/gpu/gpu_engine.h"
#include "backends/real/process/inbox.h"
#include "core/plan/plan.h"

namespace weir::real {

/// A tensor of the application on its way. From hand-over until it is done, `in` is read and `out` is
/// written; both may be the same.
struct Transfer {
  std::string name;
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  Bytes size;
  int device = -1;                     // the GPU of this host that both are on; -1: host memory
  std::unique_ptr<GpuMoment> written;  // on a GPU: when `in` has been written
};

/// The tensors of one group on one rank. Rounds of a tensor go one after another; transfers that are handed
/// over early wait in line. Any thread may call give() and withdraw(). The node's owner calls put(). Whoever
/// copies calls copy() and lend().
class Application final : public Engine {
 public:
  /// `layers`: for each tensor, the layer of the plan that contains only it. The node's owner calls `done`
  /// for each transfer whose sum has arrived. The plan and the inbox outlive this.
  Application(const Plan& plan, MachineId self, std::vector<int> layers, Inbox& inbox,
              std::function<void(const std::shared_ptr<Transfer>&)> done);

  void give(std::size_t tensor, std::shared_ptr<Transfer> transfer);
  /// After it returns, nothing reads or writes memory of the tensor's transfers. Their rounds never end.
  void withdraw(std::size_t tensor);

  void put(const Op& op, std::uint64_t round) override;

  /// Whether the op copies from or into a gradient.
  bool is_part_of(const Op& op) const;
  /// The device of the transfer that the copy belongs to. Only the node's owner calls it.
  int device_of(const Op& copy) { return of_layer(copy).current->device; }
  /// The application's memory that the copy reads or writes. It excludes a gradient's padding: the bytes
  /// after its last element that align the next gradient.
  Lent lend(const Op& copy);
  /// Copies between the application's host memory and `other`, the copy's other end.
  void copy(const Op& copy, std::span<std::byte> other);

 private:
  struct Tensor {
    std::mutex mutex;
    std::deque<std::shared_ptr<Transfer>> given;  // not begun yet
    OpId waiting;                                 // the backward that waits for the next transfer, if any
    std::shared_ptr<Transfer> current;
    std::shared_mutex memory;  // copies share it; withdraw() holds it alone
    bool withdrawn = false;
    Bytes offset;  // in the gradient buffer
  };
  void begin(Tensor& tensor, OpId backward);
  void report_done(OpId op);
  Tensor& of_layer(const Op& op) { return *tensors_[tensor_of_[static_cast<std::size_t>(op.layer)]]; }

  const Plan* plan_;
  Inbox* inbox_;
  std::function<void(const std::shared_ptr<Transfer>&)> done_;
  std::vector<std::unique_ptr<Tensor>> tensors_;
  std::vector<std::size_t> tensor_of_;  // by layer
};

}  // namespace weir::real
