#include "backends/real/compute/gpu/gpu_engine.h"

#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <thread>
#include <vector>

#include "backends/real/compute/gpu/gpu_groups.h"
#include "backends/real/compute/gpu/gpu_kernels.h"
#include "backends/real/compute/gpu/gpu_lanes.h"
#include "backends/real/compute/host_work.h"
#include "backends/real/memory/cuda.h"
#include "backends/real/process/clock.h"
#include "core/plan/access.h"

namespace weir::real {
namespace {

constexpr Duration kEndPatience{5'000'000'000};

GpuElement element_of(Dtype dtype) {
  static_assert(static_cast<int>(Dtype::kF16) == static_cast<int>(GpuElement::kF16) &&
                static_cast<int>(Dtype::kI64) == static_cast<int>(GpuElement::kI64));
  return static_cast<GpuElement>(dtype);
}

}  // namespace

struct GpuEngine::Parts {
  Parts(Gpus& all, const Plan& what, const Buffers& memory, Inbox& events, Lender lends, Clique* others)
      : gpus(all),
        plan(what),
        buffers(memory),
        inbox(events),
        lender(std::move(lends)),
        groups(all, what),
        clique(others) {}
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  ~Parts() {
    {
      const std::lock_guard lock(mutex);
      stop = true;
    }
    more.notify_all();
    if (thread.joinable()) thread.join();
    groups.end(unfinished);
    if (unfinished && clique != nullptr) clique->abandon();
    for (Lanes& lane : lanes) {
      (void)cudaSetDevice(lane.device);
      for (cudaStream_t stream : lane.streams) (void)cudaStreamSynchronize(stream);
    }
    for (const std::span<std::byte> memory : pinned) Gpus::unpin(memory);
    for (Lanes& lane : lanes) {
      (void)cudaSetDevice(lane.device);
      for (cudaEvent_t event : lane.events) (void)cudaEventDestroy(event);
      for (cudaStream_t stream : lane.streams) {
        if (stream != nullptr) (void)cudaStreamDestroy(stream);
      }
    }
  }

  Result<void> open() {
    for (int gpu = 0; gpu < gpus.count(); ++gpu) {
      Lanes& lane = lanes.emplace_back();
      lane.device = gpus.device(gpu);
      auto well = tried(cudaSetDevice(lane.device), "a GPU");
      for (cudaStream_t& stream : lane.streams) {
        if (well) well = tried(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream");
      }
      constexpr auto kBlocks = cudaDevAttrMultiProcessorCount;
      if (well) well = tried(cudaDeviceGetAttribute(&lane.blocks, kBlocks, lane.device), "a GPU");
      if (!well) return well;
    }
    return {};
  }

  Result<void> prepare(MachineId machine) {
    std::set<BufferId> seen;
    for (const Op& op : plan.ops(machine)) {
      if (meets(op.kind) == Meets::kMachines) {
        if (clique == nullptr) return failure("NCCL has not connected the GPUs of all machines");
        if (auto can = clique->check(op, plan); !can) return can;
      } else if (is_collective(op.kind)) {
        if (auto met = groups.meet(op.into.on.group()); !met) return met;
      }
      if (!is_on_gpus(op, plan)) continue;
      if (auto can = check_on_gpus(op, plan, buffers); !can) return can;
      if (op.kind != OpKind::kCopy) continue;
      for (const BufferId id : {op.from.buffer, op.into.buffer}) {
        const Buffer& buffer = plan.buffer(id);
        if (buffer.place != Memory::Kind::kHost || !seen.insert(id).second) continue;
        const auto memory = buffers.bytes(Extent{id, 0, {Bytes(0), buffer.size}});
        if (memory.empty()) continue;
        if (auto done = Gpus::pin(memory); !done) return done;
        pinned.push_back(memory);
      }
    }
    return {};
  }

  void put(const Op& op) {
    {
      const std::lock_guard lock(mutex);
      fresh.push_back(&op);
    }
    more.notify_one();
  }

  void run() {
    ::prctl(PR_SET_TIMERSLACK, 1000UL);  // otherwise each short wait would take 50 us more
    std::optional<Instant> until;        // when to give up what is under way
    Instant last = Clock::monotonic();   // when something last happened
    std::vector<const Op*> taken;
    for (;;) {
      {
        std::unique_lock lock(mutex);
        const auto called = [&] { return !fresh.empty() || (stop && !until); };
        if (running.empty() && early.empty() && !until) {
          more.wait(lock, called);
        } else {
          more.wait_for(lock, std::chrono::nanoseconds(pause_after(last).ns()), called);
        }
        taken.assign(fresh.begin(), fresh.end());
        fresh.clear();
        if (stop && !until) until = Clock::monotonic() + kEndPatience;
      }
      if (until && ((running.empty() && taken.empty()) || Clock::monotonic() > *until)) break;
      for (const Op* op : taken) take(*op);
      const bool lent = start_early();
      if (look() || lent || !taken.empty()) last = Clock::monotonic();
    }
    unfinished = unfinished || !running.empty();
  }

  // The pause until it looks again, in proportion to the time since something last happened. So it notices
  // the end of short work soon, and long work costs little processor time.
  static Duration pause_after(Instant last) {
    const Duration waited = Clock::monotonic() - last;
    return std::clamp(Duration(waited.ns() / 20), Duration(5'000), Duration(20'000));
  }

  void take(const Op& op) {
    if (!lender || op.kind != OpKind::kCopy) return start(op, {});
    early.push_back(&op);
  }

  // Starts copies once their memory has been written. No stream waits for that, because it may never happen
  // if a rank is lost.
  bool start_early() {
    bool any = false;
    for (; !early.empty(); early.pop_front(), any = true) {
      const Op& op = *early.front();
      Lent lent = lender(op);
      if (lent.after != nullptr && cudaEventQuery(static_cast<cudaEvent_t>(lent.after)) == cudaErrorNotReady)
        break;
      start(op, std::move(lent));
    }
    return any;
  }

  void start(const Op& op, Lent lent) {
    Running running_op{&op, Clock::monotonic(), {}, {}};
    (void)cudaGetLastError();  // clears the error of an earlier op, which has been reported
    const Result<void> begun = issue(op, running_op, lent);
    auto marked = begun;
    for (Span& span : running_op.spans) {
      if (marked) marked = on(span.gpu);
      if (marked) marked = tried(cudaEventRecord(span.end, stream(span.gpu, span.way)), "an event");
    }
    if (!marked) return broken(op, running_op, marked.error());
    running.push_back(std::move(running_op));
  }

  Result<void> issue(const Op& op, Running& into, Lent& lent) {
    switch (op.kind) {
      case OpKind::kBackward:
      case OpKind::kForward:
        for (int gpu = 0; gpu < gpus.count(); ++gpu) {
          if (auto begun = begin(into, gpu, Way::kCompute); !begun) return begun;
          const int blocks = lanes[static_cast<std::size_t>(gpu)].blocks;
          const cudaError_t spun = launch_spin(blocks, op.duration.ns(), stream(gpu, Way::kCompute));
          if (auto well = tried(spun, "computation"); !well) return well;
        }
        return {};
      case OpKind::kCopy:
        return lender ? copy_lent(op, into, lent) : move(op, into);
      case OpKind::kSum:
        return move(op, into);
      case OpKind::kReduceScatter:
      case OpKind::kAllGather:
      case OpKind::kReduce:
      case OpKind::kBroadcast:
      case OpKind::kAllReduce:
        return collective(op, into);
      case OpKind::kSend:
      case OpKind::kReceive:
      case OpKind::kUpdate:
      case OpKind::kJoin:
      case OpKind::kWait:
      case OpKind::kHold:
        break;
    }
    return failure(fmt::format("GPUs cannot run ops of kind '{}'", name(op.kind)));
  }

  Result<void> move(const Op& op, Running& into) {
    std::vector<Move> moves;
    find_moves(plan, op.from, op.into, op.dtype, moves);
    for (const Move& move : moves) {
      if (move.from.range.size == Bytes(0)) continue;
      const bool from_gpu = plan.buffer(move.from.buffer).place == Memory::Kind::kGpu;
      const bool into_gpu = plan.buffer(move.into.buffer).place == Memory::Kind::kGpu;
      const int gpu = from_gpu ? move.from.replica : move.into.replica;
      const Way way = !into_gpu ? Way::kOut : from_gpu ? Way::kWithin : Way::kIn;
      if (auto begun = begin(into, gpu, way); !begun) return begun;
      const auto source = buffers.bytes(move.from);
      const auto target = buffers.bytes(move.into);
      const cudaStream_t on = stream(gpu, way);
      auto done =
          adds_into(op.kind)
              ? tried(launch_sum(element_of(op.dtype), target.data(), source.data(),
                                 source.size() / static_cast<std::size_t>(size(op.dtype).count()), on),
                      "a sum")
              : tried(cudaMemcpyAsync(target.data(), source.data(), source.size(), cudaMemcpyDefault, on),
                      "a copy");
      if (!done) return done;
    }
    return {};
  }

  // Copies between the application's memory, on the machine's one GPU, and host memory.
  Result<void> copy_lent(const Op& op, Running& into, Lent& lent) {
    const bool out = plan.buffer(op.from.buffer).place == Memory::Kind::kGpu;
    const auto host = buffers.bytes(out ? op.into : op.from, op.dtype);
    if (lent.bytes.empty() || host.empty()) return {};
    into.held = std::move(lent.held);
    const Way way = out ? Way::kOut : Way::kIn;
    if (auto begun = begin(into, 0, way); !begun) return begun;
    const cudaStream_t on = stream(0, way);
    std::byte* const target = out ? host.front().data() : lent.bytes.data();
    const std::byte* const source = out ? lent.bytes.data() : host.front().data();
    return tried(cudaMemcpyAsync(target, source, lent.bytes.size(), cudaMemcpyDefault, on), "a copy");
  }

  Result<void> collective(const Op& op, Running& into) {
    const bool over_machines = meets(op.kind) == Meets::kMachines;
    if (!over_machines && !groups.has(op.into.on.group())) return {};
    const Way way = traits(op.kind).adds_up ? Way::kReduce : Way::kGather;
    std::vector<cudaStream_t> streams;
    for (const int gpu : plan.group(op.into.on.group())) {
      if (auto begun = begin(into, gpu, way); !begun) return begun;
      streams.push_back(stream(gpu, way));
    }
    if (!over_machines) return groups.start(op, buffers, streams);
    return clique->start(op, plan, buffers, streams, [this] { return going_on(); });
  }

  Result<void> going_on() {
    const std::lock_guard lock(mutex);
    return stop ? failure("the job ends") : Result<void>();
  }

  // Reports what has ended. Returns whether anything has.
  bool look() {
    const std::size_t before = running.size();
    for (std::size_t i = 0; i < running.size();) {
      const Result<bool> ended = has_ended(running[i]);
      if (ended && !*ended) {
        ++i;
        continue;
      }
      Running over = std::move(running[i]);
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
      if (ended) {
        done(over);
      } else {
        broken(*over.op, over, ended.error());
      }
    }
    return running.size() < before;
  }

  Result<bool> has_ended(const Running& one) const {
    for (const Span& span : one.spans) {
      const cudaError_t status = cudaEventQuery(span.end);
      if (status == cudaErrorNotReady) return still_well(one);
      if (auto well = tried(status, name(one.op->kind)); !well) return tl::unexpected(well.error());
    }
    return true;
  }

  // Returns false, since the op has not ended; fails if it never will. NCCL reports errors only when asked.
  Result<bool> still_well(const Running& one) const {
    constexpr Duration kLong{1'000'000'000};
    if (meets(one.op->kind) != Meets::kMachines || Clock::monotonic() - one.issued < kLong) return false;
    if (auto well = clique->well(); !well) return tl::unexpected(well.error());
    return false;
  }

  // The op began when it was handed over, or when the op before it on its stream had ended. Events that
  // record times would be exact, but cost each copy about 5 us.
  void done(Running& one) {
    Event event;
    event.op = one.op->id;
    event.at = event.started = Clock::monotonic();
    for (const Span& span : one.spans) {
      Instant& before = lanes[static_cast<std::size_t>(span.gpu)].ended[static_cast<std::size_t>(span.way)];
      event.started = std::min(event.started, std::max(one.issued, before));
      before = event.at;
    }
    free(one);
    inbox.put(std::move(event));
  }

  void broken(const Op& op, Running& one, const Error& why) {
    Event event;
    event.kind = Event::Kind::kBroken;
    event.op = op.id;
    event.text = why.text;
    event.at = event.started = Clock::monotonic();
    unfinished = true;
    free(one);
    inbox.put(std::move(event));
  }

  Result<void> on(int gpu) const {
    return tried(cudaSetDevice(lanes[static_cast<std::size_t>(gpu)].device), "a GPU");
  }
  cudaStream_t stream(int gpu, Way way) const {
    return lanes[static_cast<std::size_t>(gpu)].streams[static_cast<std::size_t>(way)];
  }

  // Makes the GPU the current one. Notes that the op has work there.
  Result<void> begin(Running& one, int gpu, Way way) {
    if (auto current = on(gpu); !current) return current;
    for (const Span& span : one.spans) {
      if (span.gpu == gpu && span.way == way) return {};
    }
    Span span{gpu, way, nullptr};
    auto& spare = lanes[static_cast<std::size_t>(gpu)].events;
    if (spare.empty()) {
      if (auto made = tried(cudaEventCreateWithFlags(&span.end, cudaEventDisableTiming), "an event"); !made)
        return made;
    } else {
      span.end = spare.back();
      spare.pop_back();
    }
    one.spans.push_back(span);
    return {};
  }

  void free(Running& one) {
    for (const Span& span : one.spans) lanes[static_cast<std::size_t>(span.gpu)].events.push_back(span.end);
  }

  Gpus& gpus;
  const Plan& plan;
  const Buffers& buffers;
  Inbox& inbox;
  Lender lender;
  GpuGroups groups;
  Clique* clique;  // over all machines' GPUs; null if the plan needs none
  std::vector<std::span<std::byte>> pinned;
  std::vector<Lanes> lanes;     // by GPU
  std::deque<const Op*> early;  // copies whose memory is not written yet; only the thread's, like `running`
  std::vector<Running> running;
  bool unfinished = false;  // whether work may be under way that nobody watches
  std::mutex mutex;
  std::condition_variable more;
  std::vector<const Op*> fresh;
  bool stop = false;
  std::thread thread;
};

Result<std::unique_ptr<GpuEngine>> GpuEngine::make(Gpus& gpus, const Plan& plan, MachineId machine,
                                                   const Buffers& buffers, Inbox& inbox, Lender lender,
                                                   Clique* clique) {
  auto parts = std::make_unique<Parts>(gpus, plan, buffers, inbox, std::move(lender), clique);
  if (auto opened = parts->open(); !opened) return tl::unexpected(opened.error());
  if (auto prepared = parts->prepare(machine); !prepared) return tl::unexpected(prepared.error());
  parts->thread = std::thread([all = parts.get()] { all->run(); });
  return std::unique_ptr<GpuEngine>(new GpuEngine(std::move(parts)));
}

GpuEngine::GpuEngine(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
GpuEngine::~GpuEngine() = default;

void GpuEngine::put(const Op& op, std::uint64_t /*round*/) { parts_->put(op); }

}  // namespace weir::real
