// What has been done over RDMA so far, through one opened device.
#pragma once

#include <atomic>
#include <cstdint>

namespace weir::real::rdma {

/// Any thread counts and reads.
struct Counts {
  std::atomic<std::int64_t> registrations = 0;  // of regions
  std::atomic<std::int64_t> written = 0;        // bytes of all writes
  std::atomic<std::int64_t> copied = 0;         // of these, by a processor into the queue
};

}  // namespace weir::real::rdma
