// A stand-in for computation: writes gradients whose sums are known, and checks the sums.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "backends/real/memory/buffers.h"
#include "core/workload/workload.h"

namespace weir::real {

/// Every GPU of every machine writes small whole numbers. They differ by writer, iteration and element. Their
/// sums are exact in the tensor's dtype if there are few enough writers (up to 128 in bf16). With more
/// writers, all write zeros and ones, and a sum may be off by a 64th of the number of writers. Several
/// threads may compute at once.
class Gradients {
 public:
  /// For one machine. All arguments outlive this.
  Gradients(const Plan& plan, const Workload& workload, const Buffers& buffers);

  /// A backward writes its layer's gradient on every GPU. A forward checks that it reads the right sum.
  void compute(const Op& op, std::uint64_t iteration);

  /// How many elements of tensors the forwards have checked.
  std::int64_t checked() const { return checked_; }
  /// Describes the first wrong element; empty if all were right.
  std::string wrong() const;

 private:
  struct Tensor {
    Part part;  // with what is left of the largest element after it
    std::size_t number;
    std::int64_t elements;
    std::string name;
  };

  std::size_t span(Dtype dtype) const;
  std::size_t phase(std::size_t writer, std::uint64_t iteration, std::size_t tensor) const;
  void write(const Op& op, const Tensor& tensor, std::uint64_t iteration);
  void check(const Op& op, const Tensor& tensor, std::uint64_t iteration);
  void look_closer(std::span<const std::byte> bytes, Dtype dtype, const std::vector<double>& sums,
                   std::size_t first, const std::string& whose);

  void take_for_wrong(const std::string& what);

  const Plan* plan_;
  const Buffers* buffers_;
  std::vector<Tensor> tensors_;
  std::vector<std::vector<std::size_t>> by_layer_;  // indices into tensors_
  std::vector<std::pair<MachineId, int>> writers_;
  std::atomic<std::int64_t> checked_ = 0;
  mutable std::mutex mutex_;
  std::string wrong_;
};

}  // namespace weir::real
