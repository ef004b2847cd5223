// Reads from a recording of PyTorch's profiler (Kineto) what describes a training iteration: ops of CPU
// threads, work of GPUs and its launches, iterations, modules and collectives. It passes over the file once
// and needs about 50 bytes an event.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/units.h"

namespace weir::kineto {

struct Span {
  Instant begin;  // since the recording's zero
  Instant end;
};

/// An op on a thread of the CPU.
struct CpuOp {
  Span span;
  std::int64_t sequence = -1;  // links an op to its backward function; -1: none
  int name = 0;                // in Recording::names
  int thread = 0;              // in Recording::threads
  std::int64_t line = 0;
  int gradient = -1;  // in Recording::gradients, for an AccumulateGrad
};

/// The first input of an AccumulateGrad, as far as it was recorded.
struct GradientInput {
  std::vector<std::int64_t> shape;
  bool shaped = false;
  bool typed = false;
  std::string type;  // PyTorch's name of the C++ type: "float", "c10::BFloat16"

  /// PyTorch records a tensor that is not defined with no dimensions and no type. A scalar has a type.
  bool undefined() const { return shaped && shape.empty() && typed && type.empty(); }
};

/// A kernel, copy or memset on a GPU.
struct GpuWork {
  Span span;
  std::int64_t correlation = 0;  // the same as that of the call that launched it
  int stream = 0;                // in Recording::threads
  bool collective = false;
};

/// A call to the GPU's runtime that may launch work.
struct Launch {
  std::int64_t correlation = 0;
  Instant at;
  bool kernel = false;  // certainly launches one
};

/// ProfilerStep#N.
struct Step {
  std::int64_t number = 0;
  Span span;
  int thread = 0;
};

/// The forward pass of a module ("Linear_3"), if the profiler recorded modules.
struct Module {
  Span span;
  int name = 0;
  int thread = 0;
};

/// A collective: for NCCL the call, for Gloo the run.
struct Collective {
  Span span;
  std::string name;
  Bytes size;  // 0 if it is not recorded
  bool ran = false;
};

/// A value.
struct Recording {
  std::string file;
  std::vector<std::string> names;
  std::vector<std::string> threads;  // "pid 12, tid 13"
  std::vector<CpuOp> ops;
  std::vector<GradientInput> gradients;
  std::vector<GpuWork> work;
  std::vector<Launch> launches;
  std::vector<Step> steps;
  std::vector<Module> modules;
  std::vector<Collective> collectives;
  std::string gpu;      // the name of the first GPU; empty if it is not recorded
  int rank = -1;        // in the job; -1 if it is not recorded
  int world_size = -1;  // the number of ranks; -1 if it is not recorded

  const std::string& name(const CpuOp& op) const { return names[static_cast<std::size_t>(op.name)]; }
};

/// The recording in the file, which may be compressed with gzip. Errors name the line.
Result<Recording> read_recording(const std::string& file);

/// The op that accumulates a gradient, and the prefix of ops that run a function of the backward pass.
inline constexpr std::string_view kAccumulate = "torch::autograd::AccumulateGrad";
inline constexpr std::string_view kEvaluate = "autograd::engine::evaluate_function: ";

}  // namespace weir::kineto
