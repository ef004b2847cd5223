// What this process has done over RDMA so far.
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

inline Counts& counts() {
  static Counts all;
  return all;
}

}  // namespace weir::real::rdma
