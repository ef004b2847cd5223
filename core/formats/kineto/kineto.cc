#include "core/formats/kineto/kineto.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/units_text.h"
#include "core/formats/kineto/kineto_clock.h"
#include "core/formats/kineto/kineto_step.h"

namespace weir {
namespace {

constexpr double kMuch = 0.1;

using kineto::Clock;
using kineto::Gradient;
using kineto::Iteration;
using kineto::Recording;

/// When the parts of the iteration begin and end, on the GPU if there is one.
struct Times {
  std::vector<Instant> forward;   // by layer: its beginning
  std::vector<Instant> gradient;  // by layer: when its last gradient is complete
  Instant begin;
  Instant turn;  // when the backward pass begins
  Instant last;  // when the last gradient is complete
  Instant end;
};

Times times_of(const Iteration& iteration, const Clock& clock) {
  Times times;
  times.begin = clock.begin(iteration.span.begin);
  times.turn = std::max(times.begin, clock.begin(iteration.backward));
  for (const kineto::ForwardOp& layer : iteration.layers) {
    const Instant least = times.forward.empty() ? times.begin : times.forward.back();
    times.forward.push_back(std::clamp(clock.begin(layer.begin), least, times.turn));
  }
  times.forward.front() = times.begin;
  times.gradient.resize(iteration.layers.size(), times.turn);
  for (const Gradient& gradient : iteration.gradients) {
    Instant& there = times.gradient[static_cast<std::size_t>(gradient.layer)];
    there = std::max(there, clock.end(gradient.done));
  }
  times.last = *std::max_element(times.gradient.begin(), times.gradient.end());
  times.end = iteration.next ? clock.begin(*iteration.next) : clock.end(iteration.span.end);
  times.end = std::max(times.end, times.last);
  return times;
}

Trace layers_of(const Iteration& iteration, const Times& times, const Clock& clock) {
  Trace trace;
  const std::size_t count = iteration.layers.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Instant end = i + 1 < count ? times.forward[i + 1] : times.turn;
    trace.layers.push_back({iteration.layers[i].name, clock.computing(times.forward[i], end), {}, {}});
  }
  // A layer's backward begins when all later layers have their gradients, in whatever order these came.
  Instant behind = times.turn;
  for (std::size_t i = count; i-- > 0;) {
    trace.layers[i].backward = clock.computing(behind, times.gradient[i]);
    behind = std::max(behind, times.gradient[i]);
  }
  for (const Gradient& gradient : iteration.gradients) {
    const std::string shape =
        gradient.shape.empty() ? "1" : fmt::format("{}", fmt::join(gradient.shape, "x"));
    trace.layers[static_cast<std::size_t>(gradient.layer)].tensors.push_back(
        {shape, gradient.elements, gradient.dtype});
  }
  return trace;
}

// Reports how the job summed gradients, for comparison.
void report_collectives(const Recording& recording, const Iteration& iteration, const Times& times,
                        const Clock& clock, std::vector<std::string>& remarks) {
  std::size_t count = 0;
  Bytes size;
  for (const kineto::Collective& one : recording.collectives) {
    const bool called_here =
        !one.ran && iteration.span.begin <= one.span.begin && one.span.begin < iteration.span.end;
    const bool ran_here = one.ran && iteration.span.begin <= one.span.begin && one.span.begin < times.end;
    if (!called_here && !ran_here) continue;
    ++count;
    size += one.size;
  }
  const Duration exposed = (times.end - times.begin) - clock.computing(times.begin, times.end);
  if (count == 0 && exposed == Duration(0)) return;
  remarks.push_back(fmt::format("{} {} of {} in total; {} in which only collectives ran are left out", count,
                                count == 1 ? "collective" : "collectives", rounded(size), rounded(exposed)));
}

Clock::Kernels kernels_of(const Iteration& iteration, const Clock& clock) {
  return clock.kernels(iteration.span.begin, iteration.next.value_or(iteration.span.end));
}

// Checks that the GPU's work was recorded, and with it the ops that launched it. Otherwise times would be
// wrong.
Result<void> check_gpu(const Recording& recording, const Iteration& iteration, const Times& times,
                       const Clock& clock) {
  const auto wrong = [&](std::string text) {
    return failure(fmt::format("{}: {}: {}", recording.file, iteration.name, text));
  };
  const auto [launched, missing] = kernels_of(iteration, clock);
  if (static_cast<double>(missing) > kMuch * static_cast<double>(launched)) {
    return wrong(fmt::format(
        "the kernels of {} of its {} launches are not recorded: {}", missing, launched,
        missing == launched
            ? "the profiler recorded no work of the GPU; record with "
              "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], as a user who may profile the GPU"
            : "the recording ends too early or has lost events; record again, with fewer iterations and "
              "without an error at the end"));
  }
  const auto [all, unlaunched] = clock.work(times.begin, times.end);
  if (static_cast<double>(unlaunched) <= kMuch * static_cast<double>(all)) return {};
  return wrong(
      fmt::format("{} of the {} kernels and copies that ran in it have no recorded launch (the runtime's "
                  "call with their 'correlation'), so their ops are unknown; record with "
                  "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]",
                  unlaunched, all));
}

std::vector<std::string> remarks_of(const Recording& recording, const Iteration& iteration,
                                    const Times& times, const Clock& clock, bool update) {
  std::vector<std::string> remarks;
  if (recording.steps.empty()) {
    remarks.push_back(
        "there are no steps: the whole recording is assumed to be one iteration; better record with "
        "profile(..., schedule=...) and prof.step() after each iteration");
  } else if (!iteration.next) {
    remarks.push_back(fmt::format(
        "no step follows {}: its time does not include the work between steps; record two steps, with "
        "schedule(..., active=2)",
        iteration.name));
  }
  if (!clock.gpu() && !recording.gpu.empty()) {
    remarks.push_back(fmt::format(
        "no work of the {} is recorded: the times come from the CPU thread; if the model is on the "
        "GPU, record with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]",
        recording.gpu));
  }
  if (const std::size_t count = clock.work(times.begin, times.end).unlaunched; count > 0) {
    remarks.push_back(fmt::format(
        "{} kernels and copies of the iteration have no recorded launch: they count when they ran, "
        "but do not mark the end of a layer",
        count));
  }
  if (const std::size_t missing = kernels_of(iteration, clock).missing; missing > 0) {
    remarks.push_back(fmt::format(
        "launches of the iteration whose kernels are not recorded: {}; its times may be too short", missing));
  }
  if (clock.elsewhere() > kMuch) {
    remarks.push_back(fmt::format(
        "other streams or GPUs did {:.0f} % as much work as the stream that times come from; they are left "
        "out, because a trace describes one GPU",
        100 * clock.elsewhere()));
  }
  if (iteration.undefined > 0) {
    remarks.push_back(fmt::format("undefined gradients left out, for which nothing is accumulated: {}",
                                  iteration.undefined));
  }
  if (iteration.empty > 0) {
    remarks.push_back(fmt::format(
        "gradients without elements left out, for which nothing is communicated: {}", iteration.empty));
  }
  if (recording.modules.empty()) {
    remarks.push_back(
        "layers are named after ops; to get names of modules, record with profile(..., with_stack=True)");
  }
  const Duration after = clock.computing(times.last, times.end);
  if (after > Duration(0)) {
    remarks.push_back(
        fmt::format("{} after the last gradient, when the optimizer runs, {}", rounded(after),
                    update ? "are spread over the forward passes of layers by their bytes" : "are left out"));
  }
  report_collectives(recording, iteration, times, clock, remarks);
  return remarks;
}

std::string source_of(const Recording& recording, const Iteration& iteration, const Times& times,
                      const Clock& clock) {
  const std::string device = clock.gpu() ? (recording.gpu.empty() ? "a GPU" : recording.gpu) : "a CPU";
  const std::string rank =
      recording.rank < 0 ? "" : fmt::format(", rank {} of {}", recording.rank, recording.world_size);
  return fmt::format("{} of a recording of PyTorch's profiler on {}{}; it took {:.3f} ms", iteration.name,
                     device, rank, (times.end - times.begin).seconds() * 1e3);
}

Result<Recording> recording_of(const KinetoImport& what) {
  if (what.files.size() > 1 && !what.rank) {
    return failure(fmt::format("there are {} files; select one with --rank", what.files.size()));
  }
  std::vector<int> found;
  for (const std::string& file : what.files) {
    auto recording = kineto::read_recording(file);
    if (!recording) return recording;
    if (!what.rank || recording->rank == *what.rank) return recording;
    found.push_back(recording->rank);
  }
  const bool none = found.front() < 0;
  return failure(
      fmt::format("{}: {}", fmt::join(what.files, ", "),
                  none ? "the recording has no rank (distributedInfo); remove --rank"
                       : fmt::format("of rank {}, none of rank {}", fmt::join(found, ", "), *what.rank)));
}

}  // namespace

Result<ImportedTrace> import_kineto(const KinetoImport& what) {
  const auto recording = recording_of(what);
  if (!recording) return tl::unexpected(recording.error());
  const auto iteration = kineto::iteration_of(*recording, what.step);
  if (!iteration) return tl::unexpected(iteration.error());
  const Clock clock(*recording, *iteration);
  const Times times = times_of(*iteration, clock);
  if (const auto right = check_gpu(*recording, *iteration, times, clock); !right)
    return tl::unexpected(right.error());
  Trace trace = layers_of(*iteration, times, clock);
  trace.source = source_of(*recording, *iteration, times, clock);
  if (what.about.update) spread_by_bytes(trace, clock.computing(times.last, times.end));
  return finished(std::move(trace), what.about, recording->file,
                  remarks_of(*recording, *iteration, times, clock, what.about.update));
}

}  // namespace weir
