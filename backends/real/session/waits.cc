// The calls of a session that wait.
#include <algorithm>
#include <array>
#include <cstring>

#include "backends/real/process/clock.h"
#include "backends/real/session/session.h"
#include "core/base/units_text.h"
#include "core/protocol/tensor_wait.h"

namespace weir::real {
namespace {

std::chrono::nanoseconds seconds(double count) {
  return std::chrono::nanoseconds(Duration::from_seconds(count).ns());
}

}  // namespace

// `sums` has the sum of the roots of all n ranks, and of their squares. The sum of (root - ours)^2 is 0 if
// all roots are ours. Modulo 2^32, since the sums are 32-bit words.
bool Session::same_roots(const Way& way) const {
  if (way.root < 0) return true;
  std::array<std::uint32_t, kRootWords> sums{};
  std::memcpy(sums.data(), way.copy.data() + way.copy.size() - sizeof sums, sizeof sums);
  const auto ours = static_cast<std::uint32_t>(way.root);
  const auto ranks = static_cast<std::uint32_t>(settings_.size);
  return sums[0] == ranks * ours && sums[1] == ranks * ours * ours;
}

// What wait() returns when there is nothing left to wait for.
Outcome<void> Session::end_of(Handle handle, Way& way) {
  Outcome<void> outcome;
  const Tensor& tensor = tensors_[way.transfer->name];
  if (way.done && !same_roots(way)) {
    outcome = refusal(SessionStatus::kMismatch,
                      fmt::format("tensor '{}': ranks name different roots; this one names {}",
                                  way.transfer->name, way.root));
  } else if (way.done) {
    if (way.back != nullptr && way.bytes > 0) std::memcpy(way.back, way.copy.data(), way.bytes);
  } else if (!tensor.refused.empty()) {
    outcome = refusal(SessionStatus::kMismatch, tensor.refused);
  } else {
    outcome = tl::unexpected(*ended_);
  }
  handles_.erase(way.transfer.get());
  ways_.erase(handle);
  return outcome;
}

Outcome<bool> Session::poll(Handle handle) {
  const std::lock_guard lock(mutex_);
  const auto way = ways_.find(handle);
  if (way == ways_.end())
    return refusal(SessionStatus::kInvalid, fmt::format("there is no handle {}", handle));
  return way->second.done || ended_ || !tensors_[way->second.transfer->name].refused.empty();
}

Outcome<void> Session::wait(Handle handle) {
  std::unique_lock lock(mutex_);
  const auto found = ways_.find(handle);
  if (found == ways_.end())
    return refusal(SessionStatus::kInvalid, fmt::format("there is no handle {}", handle));
  Way& way = found->second;
  const std::string& name = way.transfer->name;
  const auto over = [&] { return way.done || ended_ || !tensors_[name].refused.empty(); };
  TensorWait wait(Duration::from_seconds(settings_.warn_after), Duration::from_seconds(settings_.patience),
                  Clock::monotonic());
  bool asking = false;
  while (true) {
    const auto heard = [&] { return over() || (asking && missing_.contains(name)); };
    const Duration left = std::max(wait.wake() - Clock::monotonic(), Duration(0));
    changed_.wait_for(lock, std::chrono::nanoseconds(left.ns()), heard);
    if (over()) break;
    const auto answer = missing_.find(name);
    const bool answered = asking && answer != missing_.end();
    const MissingNote* const reply = answered ? &answer->second : nullptr;
    const TensorWait::Step step = wait.step(Clock::monotonic(), somebody_left_, reply);
    if (step == TensorWait::Step::kWait && !answered) continue;
    asking = step == TensorWait::Step::kAsk;
    if (asking) {
      missing_.erase(name);
      to_ask_.push_back(name);
      continue;
    }
    const std::string why =
        fmt::format("rank {} has waited {} for tensor '{}': {}", settings_.role.number,
                    rounded(wait.waited()), name, waits_for(reply, tensors_.at(name).note.kept));
    if (step == TensorWait::Step::kWarn) fmt::print(stderr, "weir: {}\n", why);
    if (step != TensorWait::Step::kGiveUp && step != TensorWait::Step::kLost) continue;
    const bool lost = step == TensorWait::Step::kLost;
    if (!give_up_) give_up_ = SessionError{lost ? SessionStatus::kLost : SessionStatus::kTimeout, why};
    changed_.wait(lock, over);
    break;
  }
  return end_of(handle, way);
}

Outcome<void> Session::barrier() {
  float one = 0;
  const auto handle = push_pull({"weir.barrier", 1, Dtype::kF32, 0}, &one, &one);
  if (!handle) return tl::unexpected(handle.error());
  return wait(*handle);
}

Outcome<void> Session::leave() {
  std::vector<Handle> left;
  {
    const std::lock_guard lock(mutex_);
    if (!thread_.joinable()) return {};
    if (auto open = check_open(); !open) return open;
    for (const auto& [handle, way] : ways_) left.push_back(handle);
  }
  for (const Handle handle : left) {
    if (auto arrived = wait(handle); !arrived && arrived.error().status != SessionStatus::kMismatch)
      return arrived;
  }
  std::unique_lock lock(mutex_);
  leave_ = true;
  const bool over = changed_.wait_for(lock, seconds(settings_.patience), [&] { return ended_.has_value(); });
  if (!over)
    return refusal(SessionStatus::kTimeout,
                   fmt::format("others have not left after {} s", settings_.patience));
  if (ended_->status != SessionStatus::kState) return tl::unexpected(*ended_);
  return {};
}

}  // namespace weir::real
