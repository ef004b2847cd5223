// What a GPU engine keeps of its GPUs' streams and of what runs on them. For this folder.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <shared_mutex>
#include <vector>

#include "core/plan/op.h"

namespace weir::real {

// Of each GPU, one stream for each.
enum class Way : std::uint8_t { kCompute, kReduce, kGather, kOut, kIn, kWithin };
constexpr std::size_t kWays = 6;

// An op's work on one stream, and what tells that it has ended.
struct Span {
  int gpu;
  Way way;
  cudaEvent_t end;
};

struct Running {
  const Op* op;
  Instant issued;
  std::vector<Span> spans;
  std::shared_lock<std::shared_mutex> held;  // memory that is lent
};

// One GPU's streams, and events that are free.
struct Lanes {
  int device = 0;
  int blocks = 1;  // that keep it busy
  std::array<cudaStream_t, kWays> streams{};
  std::array<Instant, kWays> ended{};  // when the last op on the stream had
  std::vector<cudaEvent_t> events;
};

}  // namespace weir::real
