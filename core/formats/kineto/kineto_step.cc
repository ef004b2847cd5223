#include "core/formats/kineto/kineto_step.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace weir::kineto {
namespace {

constexpr Duration kRounding(1000);  // the coarsest unit of times in recordings is a microsecond
constexpr std::string_view kShapes = "record with profile(..., record_shapes=True)";

/// The ops of a thread that are inside no other op of the thread, in order. Ranges that the program itself
/// named (record_function) do not count as ops.
std::vector<const CpuOp*> outermost(const Recording& recording, std::vector<const CpuOp*> ops) {
  std::sort(ops.begin(), ops.end(), [](const CpuOp* a, const CpuOp* b) {
    return std::tuple(a->span.begin, b->span.end) < std::tuple(b->span.begin, a->span.end);
  });
  std::vector<const CpuOp*> found;
  for (const CpuOp* op : ops) {
    const bool named = op->sequence < 0 && recording.name(*op).find("::") == std::string::npos;
    if (named || (!found.empty() && op->span.begin < found.back()->span.end)) continue;
    found.push_back(op);
  }
  return found;
}

bool within(const Span& span, Instant at) { return span.begin <= at && at < span.end; }

std::optional<Dtype> dtype_of(const std::string& type) {
  static const std::map<std::string, Dtype> known = {
      {"float", Dtype::kF32},          {"double", Dtype::kF64},   {"c10::Half", Dtype::kF16},
      {"c10::BFloat16", Dtype::kBf16}, {"long int", Dtype::kI64}, {"int", Dtype::kI32}};
  const auto found = known.find(type);
  if (found == known.end()) return std::nullopt;
  return found->second;
}

/// Finds the parts of one iteration.
class Finder {
 public:
  Finder(const Recording& recording, Iteration iteration, int thread)
      : recording_(recording), iteration_(std::move(iteration)), thread_(thread) {}

  Result<Iteration> find() {
    sort_ops();
    if (const auto found = find_gradients(); !found) return tl::unexpected(found.error());
    if (const auto one = check_passes(); !one) return tl::unexpected(one.error());
    order_layers();
    return std::move(iteration_);
  }

 private:
  /// One function of the backward pass.
  struct Function {
    const CpuOp* op;
    std::int64_t sequence;
  };

  std::string where(const CpuOp& op) const { return fmt::format("{}:{}", recording_.file, op.line); }
  Error error(const std::string& text) const {
    return {fmt::format("{}: {}: {}", recording_.file, iteration_.name, text)};
  }
  bool evaluates(const CpuOp& op) const { return recording_.name(op).starts_with(kEvaluate); }

  void sort_ops();
  void leave_out(const std::vector<const CpuOp*>& undefined);
  Result<void> find_gradients();
  Result<int> layer_of(const CpuOp& accumulate);
  Error nested(const CpuOp& accumulate, const CpuOp& function) const;
  Result<void> add_gradient(const CpuOp& accumulate, int layer);
  Result<void> check_passes() const;
  void order_layers();
  std::string name_of(const CpuOp& op) const;

  const Recording& recording_;
  Iteration iteration_;
  int thread_;                                     // of the forward pass
  std::vector<const CpuOp*> forward_;              // outermost ops of that thread, without the backward pass
  std::map<int, std::vector<Function>> backward_;  // by thread, in order
  std::map<std::int64_t, const CpuOp*> makers_;    // by sequence number: outermost ops
  std::map<const CpuOp*, int> layers_;
  std::vector<const CpuOp*> accumulates_;
};

void Finder::sort_ops() {
  std::map<int, std::vector<const CpuOp*>> threads;
  std::vector<const CpuOp*> undefined;
  for (const CpuOp& op : recording_.ops) {
    if (within(iteration_.span, op.span.begin)) threads[op.thread].push_back(&op);
  }
  for (const auto& [thread, ops] : threads) {
    for (const CpuOp* op : outermost(recording_, ops)) {
      if (evaluates(*op)) {
        backward_[thread].push_back({op, op->sequence});
      } else if (thread == thread_) {
        forward_.push_back(op);
      }
      if (thread == thread_) iteration_.busy.push_back(op->span);
    }
    for (const CpuOp* op : ops) {
      if (op->gradient < 0) continue;
      const GradientInput& input = recording_.gradients[static_cast<std::size_t>(op->gradient)];
      const bool empty = std::ranges::find(input.shape, 0) != input.shape.end();
      if (input.undefined()) {
        undefined.push_back(op);
      } else if (empty) {
        ++iteration_.empty;
      } else {
        accumulates_.push_back(op);
      }
    }
  }
  leave_out(undefined);
  std::sort(accumulates_.begin(), accumulates_.end(),
            [](const CpuOp* a, const CpuOp* b) { return a->span.end < b->span.end; });
  // An op shows the number of the next function. So the last op that shows a number made that function.
  std::vector<const CpuOp*> inner;
  for (const CpuOp* op : threads[thread_]) {
    if (op->sequence >= 0) inner.push_back(op);
  }
  std::stable_sort(inner.begin(), inner.end(),
                   [](const CpuOp* a, const CpuOp* b) { return a->span.begin < b->span.begin; });
  for (const CpuOp* op : inner) {
    const auto after = std::upper_bound(forward_.begin(), forward_.end(), op->span.begin,
                                        [](Instant at, const CpuOp* one) { return at < one->span.begin; });
    if (after == forward_.begin()) continue;
    const CpuOp* around = *std::prev(after);
    if (within(around->span, op->span.begin)) makers_[op->sequence] = around;
  }
}

// An AccumulateGrad without a gradient may run anywhere, also on the thread of the forward pass. The function
// around it is no part of the backward pass.
void Finder::leave_out(const std::vector<const CpuOp*>& undefined) {
  iteration_.undefined = undefined.size();
  for (const CpuOp* op : undefined) {
    std::erase_if(backward_[op->thread], [&](const Function& function) {
      return function.sequence < 0 && within(function.op->span, op->span.begin);
    });
  }
}

Result<void> Finder::find_gradients() {
  if (accumulates_.empty() && iteration_.undefined + iteration_.empty > 0) {
    return tl::unexpected(error(fmt::format(
        "no gradient can be summed: {} are undefined and {} have no elements; expected AccumulateGrad with "
        "the shape and type of a gradient",
        iteration_.undefined, iteration_.empty)));
  }
  if (accumulates_.empty()) {
    return tl::unexpected(error(
        recording_.ops.empty() ? "there are no CPU ops; record with "
                                 "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"
                               : "there is no backward pass that accumulates gradients (AccumulateGrad); "
                                 "record whole iterations, with prof.step() after each and without "
                                 "torch.no_grad()"));
  }
  iteration_.backward = accumulates_.front()->span.begin;
  for (const auto& [thread, functions] : backward_) {
    if (!functions.empty())
      iteration_.backward = std::min(iteration_.backward, functions.front().op->span.begin);
  }
  for (const CpuOp* accumulate : accumulates_) {
    const auto layer = layer_of(*accumulate);
    if (!layer) return tl::unexpected(layer.error());
    if (auto added = add_gradient(*accumulate, *layer); !added) return added;
  }
  return {};
}

// A gradient is accumulated as soon as it is complete: right after the function that completed it.
Result<int> Finder::layer_of(const CpuOp& accumulate) {
  const std::vector<Function>& functions = backward_[accumulate.thread];
  const Function* last = nullptr;
  for (auto at = std::upper_bound(functions.begin(), functions.end(), accumulate.span.begin,
                                  [](Instant when, const Function&one) { return when < one.op->span.begin; });
       at != functions.begin();) {
    --at;
    if (at->sequence < 0) continue;
    if (within(at->op->span, accumulate.span.begin)) return tl::unexpected(nested(accumulate, *at->op));
    last = &*at;
    break;
  }
  if (last == nullptr) {
    return failure(
        fmt::format("{}: AccumulateGrad comes before any function of the backward pass with a 'Sequence "
                    "number': the recording begins inside an iteration; record whole iterations, with "
                    "prof.step() after each",
                    where(accumulate)));
  }
  const auto maker = makers_.find(last->sequence);
  if (maker == makers_.end()) {
    return failure(fmt::format(
        "{}: {} of the backward pass has 'Sequence number' {}, but {} has no op of the forward pass "
        "with that number on {}; record whole iterations, with prof.step() after each",
        where(*last->op), recording_.name(*last->op).substr(kEvaluate.size()), last->sequence,
        iteration_.name, recording_.threads[static_cast<std::size_t>(thread_)]));
  }
  const auto [at, fresh] = layers_.emplace(maker->second, static_cast<int>(iteration_.layers.size()));
  if (fresh) iteration_.layers.push_back({maker->second->span.begin, name_of(*maker->second)});
  return at->second;
}

Error Finder::nested(const CpuOp& accumulate, const CpuOp& function) const {
  return {fmt::format(
      "{}: AccumulateGrad runs within {}: reentrant checkpointing accumulates gradients of activations too, "
      "which look like those of parameters; record with checkpoint(..., use_reentrant=False)",
      where(accumulate), recording_.name(function).substr(kEvaluate.size()))};
}

Result<void> Finder::add_gradient(const CpuOp& accumulate, int layer) {
  const GradientInput& input = recording_.gradients[static_cast<std::size_t>(accumulate.gradient)];
  if (!input.shaped || !input.typed || input.type.empty()) {
    return failure(fmt::format(
        "{}: AccumulateGrad has no 'Input Dims' or no 'Input type', which give the sizes of tensors; "
        "{}",
        where(accumulate), kShapes));
  }
  const auto dtype = dtype_of(input.type);
  if (!dtype) {
    return failure(
        fmt::format("{}: a gradient's elements are of type '{}'; Weir knows float, double, c10::Half, "
                    "c10::BFloat16, int and long int",
                    where(accumulate), input.type));
  }
  constexpr std::int64_t kMost = 1'000'000'000'000;
  std::int64_t elements = 1;
  for (const std::int64_t one : input.shape) {
    if (one < 1 || one > kMost / elements) {
      return failure(fmt::format("{}: a gradient has the shape [{}]; expected 1 to {} elements",
                                 where(accumulate), fmt::join(input.shape, ", "), kMost));
    }
    elements *= one;
  }
  iteration_.gradients.push_back({accumulate.span.end, layer, input.shape, elements, *dtype});
  return {};
}

// Checks that there is only one pass. A second one would accumulate the same gradients again.
Result<void> Finder::check_passes() const {
  std::set<const CpuOp*> used;
  for (const auto& [thread, functions] : backward_) {
    for (const Function& function : functions) {
      const auto maker = makers_.find(function.sequence);
      if (maker != makers_.end()) used.insert(maker->second);
    }
  }
  for (const CpuOp* op : used) {
    if (op->span.begin < iteration_.gradients.front().done) continue;
    return failure(fmt::format(
        "{}: {}: a second forward and backward pass begins here, with {}; call prof.step() after each "
        "pass, or import an iteration with only one pass (no gradient accumulation)",
        where(*op), iteration_.name, recording_.name(*op)));
  }
  return {};
}

void Finder::order_layers() {
  std::vector<int> order(iteration_.layers.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  std::vector<ForwardOp>& layers = iteration_.layers;
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return layers[static_cast<std::size_t>(a)].begin < layers[static_cast<std::size_t>(b)].begin;
  });
  std::vector<ForwardOp> sorted;
  std::vector<int> place(order.size());
  for (const int one : order) {
    place[static_cast<std::size_t>(one)] = static_cast<int>(sorted.size());
    sorted.push_back(std::move(layers[static_cast<std::size_t>(one)]));
  }
  layers = std::move(sorted);
  for (Gradient& gradient : iteration_.gradients)
    gradient.layer = place[static_cast<std::size_t>(gradient.layer)];
}

// The modules around the op, from the outermost to the innermost, without the model itself.
std::string Finder::name_of(const CpuOp& op) const {
  std::vector<const Module*> around;
  for (const Module& module : recording_.modules) {
    if (module.thread == op.thread && within(module.span, op.span.begin)) around.push_back(&module);
  }
  std::sort(around.begin(), around.end(),
            [](const Module* a, const Module* b) { return a->span.begin < b->span.begin; });
  std::string name;
  for (std::size_t i = around.size() > 1 ? 1 : 0; i < around.size(); ++i) {
    name += (name.empty() ? "" : ".") + recording_.names[static_cast<std::size_t>(around[i]->name)];
  }
  if (!name.empty()) return name;
  name = recording_.name(op);
  const std::size_t space = name.rfind("::");
  return space == std::string::npos ? name : name.substr(space + 2);
}

std::string numbers(const std::vector<Step>& steps) {
  std::vector<std::int64_t> all;
  for (const Step& step : steps) all.push_back(step.number);
  return fmt::format("{}", fmt::join(all, ", "));
}

// For files without steps: the whole recording is one iteration. The forward pass is on the thread with the
// most ops that have a backward function.
Result<Iteration> whole(const Recording& recording) {
  if (recording.ops.empty()) {
    return failure(
        fmt::format("{}: there are no CPU ops; record with activities=[ProfilerActivity.CPU, "
                    "ProfilerActivity.CUDA]",
                    recording.file));
  }
  Iteration iteration;
  iteration.name = "the whole recording";
  iteration.span = recording.ops.front().span;
  std::map<int, std::size_t> numbered;
  for (const CpuOp& op : recording.ops) {
    iteration.span.begin = std::min(iteration.span.begin, op.span.begin);
    iteration.span.end = std::max(iteration.span.end, op.span.end);
    const bool backward = recording.name(op).find("Backward") != std::string::npos;
    if (op.sequence >= 0 && !backward) ++numbered[op.thread];
  }
  int thread = recording.ops.front().thread;
  for (const auto& [one, count] : numbered) {
    if (count > numbered[thread]) thread = one;
  }
  return Finder(recording, std::move(iteration), thread).find();
}

}  // namespace

Result<Iteration> iteration_of(const Recording& recording, std::optional<std::int64_t> number) {
  std::vector<Step> steps = recording.steps;
  std::sort(steps.begin(), steps.end(),
            [](const Step& a, const Step& b) { return a.span.begin < b.span.begin; });
  if (steps.empty() && number) {
    return failure(
        fmt::format("{}: there is no ProfilerStep#{}, because there are no steps; record with profile(..., "
                    "schedule=...) and prof.step() after each iteration",
                    recording.file, *number));
  }
  if (steps.empty()) return whole(recording);
  for (std::size_t i = 1; i < steps.size(); ++i) {
    // Begins and durations are rounded apart, so steps that touch may seem to overlap.
    Instant& end = steps[i - 1].span.end;
    const Instant next = steps[i].span.begin;
    if (end > next && end - next <= kRounding && steps[i - 1].span.begin < next) end = next;
    if (steps[i].span.begin >= steps[i - 1].span.end && steps[i].number > steps[i - 1].number) continue;
    return failure(
        fmt::format("{}: ProfilerStep#{} and ProfilerStep#{} are not in sequence; import the recording of "
                    "one process at a time",
                    recording.file, steps[i - 1].number, steps[i].number));
  }
  std::size_t at = steps.size() > 1 ? steps.size() - 2 : 0;
  if (number) {
    const auto found =
        std::find_if(steps.begin(), steps.end(), [&](const Step& step) { return step.number == *number; });
    if (found == steps.end()) {
      return failure(fmt::format("{}: there is no ProfilerStep#{}; the steps are {}", recording.file, *number,
                                 numbers(steps)));
    }
    at = static_cast<std::size_t>(found - steps.begin());
  }
  Iteration iteration;
  iteration.name = fmt::format("ProfilerStep#{}", steps[at].number);
  iteration.span = steps[at].span;
  if (at + 1 < steps.size()) iteration.next = steps[at + 1].span.begin;
  return Finder(recording, std::move(iteration), steps[at].thread).find();
}

}  // namespace weir::kineto
