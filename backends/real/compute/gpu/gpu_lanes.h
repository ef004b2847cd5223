// What a GPU engine stores about its GPUs' streams and the ops that run on them. Internal to this folder.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <shared_mutex>
#include <vector>

#include "core/plan/op.h"

namespace weir::real {

// Each GPU has one stream for each of these.
enum class Way : std::uint8_t { kCompute, kReduce, kGather, kOut, kIn, kWithin };
constexpr std::size_t kWays = 6;

// An op's work on one stream, and the event that marks its end.
struct Span {
  int gpu;
  Way way;
  cudaEvent_t end;
};

struct Running {
  const Op* op;
  Instant issued;
  std::vector<Span> spans;
  std::shared_lock<std::shared_mutex> held;  // keeps lent memory from being withdrawn
};

// One GPU's streams, and its unused events.
struct Lanes {
  int device = 0;
  int blocks = 1;  // how many keep the GPU busy
  std::array<cudaStream_t, kWays> streams{};
  std::array<Instant, kWays> ended{};  // when the last op on the stream ended
  std::vector<cudaEvent_t> events;
};

}  // namespace weir::real
