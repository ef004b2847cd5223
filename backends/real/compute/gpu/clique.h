// The GPUs of all machines of a job, which NCCL has meet for all-reduces over machines.
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

/// Has NCCL, in this process and where the environment does not say otherwise, take the machine for a host of
/// its own, whose network is at these addresses: machines of a lab share a host. To be called before threads
/// are started.
void introduce_to_nccl(MachineId machine, const std::vector<std::string>& addresses);

/// One owner thread at a time.
class Clique {
 public:
  /// Where all are to meet, as text that every machine needs; one machine makes it, of those that come. Fails
  /// without NCCL.
  static Result<std::string> place();

  struct Member {
    int first = 0;  // of the machine's GPUs, among all
    int all = 0;    // GPUs, of all machines
  };
  /// Waits until all have come and are connected, which takes NCCL a second or so. Fails when `watch`, which
  /// is called meanwhile, does, and after that time. The GPUs outlive it.
  static Result<std::unique_ptr<Clique>> meet(const Gpus& gpus, const std::string& place, Member member,
                                              Duration patience, const std::function<Result<void>()>& watch);
  Clique(const Clique&) = delete;
  Clique& operator=(const Clique&) = delete;
  /// Waits for nothing: what is under way ends without a result.
  ~Clique();

  /// Whether it can be done: it is over the GPUs that have met, all of them.
  Result<void> check(const Op& op, const Plan& plan) const;
  /// Hands an all-reduce to the machine's GPUs, each on its stream: in place, as the op says. All machines
  /// hand over the same ones in the same order. Fails when `watch` does, which is called if NCCL takes its
  /// time.
  Result<void> start(const Op& op, const Plan& plan, const Buffers& buffers,
                     std::span<CUstream_st* const> streams, const std::function<Result<void>()>& watch);
  /// Fails, with NCCL's words, if something under way has gone wrong.
  Result<void> well() const;
  /// Ends what is under way, which others may have left. Nothing can be started any more.
  void abandon();

 private:
  struct Parts;
  explicit Clique(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace weir::real
