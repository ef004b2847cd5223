// Where a plan meets who trains: backwards stand for gradients that are handed over, forwards for sums that
// are taken.
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

/// A tensor of the application on its way: from when it is handed over until it is done, `in` is read and
/// `out`, which may be the same, is written.
struct Transfer {
  std::string name;
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  Bytes size;
  int device = -1;                     // on which GPU of the host both are; -1: in host memory
  std::unique_ptr<GpuMoment> written;  // on a GPU: `in` is
};

/// The tensors of one group on one rank. Rounds of a tensor go one after another; those that are handed over
/// early wait in line. give() and withdraw() are for any thread, put() is the node's owner's, and copy() and
/// lend() those of whoever copies.
class Application final : public Engine {
 public:
  /// `layers`: by tensor, the layer of the plan that has it alone. `done` is called by the node's owner for
  /// each transfer whose sum has arrived. The plan and the inbox outlive this.
  Application(const Plan& plan, MachineId self, std::vector<int> layers, Inbox& inbox,
              std::function<void(const std::shared_ptr<Transfer>&)> done);

  void give(std::size_t tensor, std::shared_ptr<Transfer> transfer);
  /// Once it returns nothing reads or writes memory of the tensor's transfers any more; their rounds never
  /// end.
  void withdraw(std::size_t tensor);

  void put(const Op& op, std::uint64_t round) override;

  /// Whether the op copies from or into a gradient.
  bool is_part_of(const Op& op) const;
  /// The device of the transfer that the copy is of; its owner's.
  int device_of(const Op& copy) { return of_layer(copy).current->device; }
  /// The application's memory that the copy reads, or writes: not what a gradient takes up beyond its last
  /// element, so that the next one begins where any may.
  Lent lend(const Op& copy);
  /// Copies between the application's host memory and `other`, the other end of the copy.
  void copy(const Op& copy, std::span<std::byte> other);

 private:
  struct Tensor {
    std::mutex mutex;
    std::deque<std::shared_ptr<Transfer>> given;  // and not begun
    OpId waiting;                                 // the backward that waits for the next one, if it does
    std::shared_ptr<Transfer> current;
    std::shared_mutex memory;  // shared by whoever copies, withdrawn alone
    bool withdrawn = false;
    Bytes offset;  // of the gradient buffer
  };
  void begin(Tensor& tensor, OpId backward);
  void tell_done(OpId op);
  Tensor& of_layer(const Op& op) { return *tensors_[tensor_of_[static_cast<std::size_t>(op.layer)]]; }

  const Plan* plan_;
  Inbox* inbox_;
  std::function<void(const std::shared_ptr<Transfer>&)> done_;
  std::vector<std::unique_ptr<Tensor>> tensors_;
  std::vector<std::size_t> tensor_of_;  // by layer
};

}  // namespace weir::real
