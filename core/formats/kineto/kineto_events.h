// What a recording of PyTorch's profiler (Kineto) holds that tells a training iteration: ops of the CPU's
// threads, work of GPUs with what launched it, iterations, modules and collectives. One pass over the file,
// and some 50 bytes an event.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/units.h"

namespace weir::kineto {

struct Span {
  Instant begin;  // since what the recording counts from
  Instant end;
};

/// An op on a thread of the CPU.
struct CpuOp {
  Span span;
  std::int64_t sequence = -1;  // joins an op with its backward; -1: it has none
  int name = 0;                // in Recording::names
  int thread = 0;              // in Recording::threads
  std::int64_t line = 0;
  int gradient = -1;  // in Recording::gradients, of an AccumulateGrad
};

/// The first input of an AccumulateGrad, as far as the recording tells.
struct GradientInput {
  std::vector<std::int64_t> shape;
  bool shaped = false;
  std::string type;  // PyTorch's name of the C++ type: "float", "c10::BFloat16"
};

/// A kernel, a copy or a memset of a GPU.
struct GpuWork {
  Span span;
  std::int64_t correlation = 0;  // with the call that launched it
  int stream = 0;                // in Recording::threads
  bool collective = false;
};

/// A call of the GPU's runtime, which may launch work.
struct Launch {
  std::int64_t correlation = 0;
  Instant at;
  bool kernel = false;  // it surely launches one
};

/// ProfilerStep#N.
struct Step {
  std::int64_t number = 0;
  Span span;
  int thread = 0;
};

/// The forward of a module ("Linear_3"), where the profiler was asked for it.
struct Module {
  Span span;
  int name = 0;
  int thread = 0;
};

/// A collective, of NCCL as it was called, of Gloo as it ran.
struct Collective {
  Span span;
  std::string name;
  Bytes size;  // none if that is not told
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
  std::string gpu;      // the name of the first; empty if none is told
  int rank = -1;        // of the job; -1 if there is none
  int world_size = -1;  // how many ranks; -1 if none is told

  const std::string& name(const CpuOp& op) const { return names[static_cast<std::size_t>(op.name)]; }
};

/// The recording in the file, which may be compressed with gzip. Errors name the line.
Result<Recording> read_recording(const std::string& file);

/// What accumulates a gradient, and what runs one function of the backward pass.
inline constexpr std::string_view kAccumulate = "torch::autograd::AccumulateGrad";
inline constexpr std::string_view kEvaluate = "autograd::engine::evaluate_function: ";

}  // namespace weir::kineto
