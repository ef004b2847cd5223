// The GPUs of all machines of a job, connected by NCCL for all-reduces over machines.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/real/memory/buffers.h"
#include "backends/real/memory/gpus.h"

struct CUstream_st;  // what a cudaStream_t points to

namespace weir::real {

/// Makes NCCL in this process treat the machine as a separate host whose network has these addresses.
/// Machines of a lab need this because they share one host. Leaves environment variables that are already
/// set. Call it before threads are started.
void introduce_to_nccl(MachineId machine, const std::vector<std::string>& addresses);

/// One owner thread at a time.
class Clique {
 public:
  /// A meeting place for all GPUs, as text. One of the machines makes it, and every machine needs it. Fails
  /// without NCCL.
  static Result<std::string> place();

  struct Member {
    int first = 0;  // number of the machine's first GPU among all GPUs
    int all = 0;    // number of GPUs of all machines
  };
  /// Waits until all GPUs are connected, which takes NCCL about a second. Fails after `patience`, or when
  /// `watch` fails, which is called meanwhile. The GPUs outlive the clique.
  static Result<std::unique_ptr<Clique>> meet(const Gpus& gpus, const std::string& place, Member member,
                                              Duration patience, const std::function<Result<void>()>& watch);
  Clique(const Clique&) = delete;
  Clique& operator=(const Clique&) = delete;
  /// Does not wait: all-reduces under way end without a result.
  ~Clique();

  /// Fails unless the op is over all GPUs that have met.
  Result<void> check(const Op& op, const Plan& plan) const;
  /// Hands an all-reduce to the machine's GPUs, each on its stream, in place as the op says. All machines
  /// must hand over the same all-reduces in the same order. If NCCL is slow, calls `watch`, and fails when
  /// that does.
  Result<void> start(const Op& op, const Plan& plan, const Buffers& buffers,
                     std::span<CUstream_st* const> streams, const std::function<Result<void>()>& watch);
  /// Fails, with NCCL's message, if something under way has gone wrong.
  Result<void> well() const;
  /// Ends what is under way, for example because other machines have left it. Nothing can be started
  /// afterwards.
  void abandon();

 private:
  struct Parts;
  explicit Clique(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace weir::real
