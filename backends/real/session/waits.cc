// Where calls of a session wait.
#include <array>
#include <cstring>

#include "backends/real/session/session.h"
#include "core/base/units_text.h"

namespace weir::real {
namespace {

constexpr std::chrono::seconds kSoon{1};  // of waits while somebody has left, and for answers

std::chrono::nanoseconds seconds(double count) {
  return std::chrono::nanoseconds(Duration::from_seconds(count).ns());
}

}  // namespace

// Of n ranks' roots: the sum of (root - ours)^2 is 0 where all are ours. Modulo 2^32, as words add up.
bool Session::same_roots(const Way& way) const {
  if (way.root < 0) return true;
  std::array<std::uint32_t, kRootWords> sums{};
  std::memcpy(sums.data(), way.copy.data() + way.copy.size() - sizeof sums, sizeof sums);
  const auto ours = static_cast<std::uint32_t>(way.root);
  const auto ranks = static_cast<std::uint32_t>(settings_.size);
  return sums[0] == ranks * ours && sums[1] == ranks * ours * ours;
}

// What wait() returns once there is nothing to wait for.
Outcome<void> Session::end_of(Handle handle, Way& way) {
  Outcome<void> outcome;
  const Tensor& tensor = tensors_[way.transfer->name];
  if (way.done && !same_roots(way)) {
    outcome = refusal(
        SessionStatus::kMismatch,
        fmt::format("tensor '{}': ranks name different roots; this one {}", way.transfer->name, way.root));
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

// What the leader has last said of what the tensor waits for; of a kept one for others to declare it.
std::string Session::waits_for(const std::string& tensor) const {
  const bool kept = tensors_.at(tensor).note.kept;
  const auto answer = missing_.find(tensor);
  if (answer != missing_.end() && !answer->second.who.empty())
    return fmt::format("not {} by {}", kept ? "declared" : "handed over", answer->second.who);
  return kept ? "all ranks have declared it, but the CPU machines do not answer"
              : "all ranks have handed it over";
}

Outcome<void> Session::wait(Handle handle) {
  std::unique_lock lock(mutex_);
  const auto found = ways_.find(handle);
  if (found == ways_.end())
    return refusal(SessionStatus::kInvalid, fmt::format("there is no handle {}", handle));
  Way& way = found->second;
  const std::string& name = way.transfer->name;
  const auto over = [&] { return way.done || ended_ || !tensors_[name].refused.empty(); };
  const Moment began = std::chrono::steady_clock::now();
  Moment warn = began + seconds(settings_.warn_after);
  const Moment until = began + seconds(settings_.patience);
  while (!changed_.wait_for(lock, kSoon, over)) {
    const Moment now = std::chrono::steady_clock::now();
    const bool late = now >= std::min(warn, until);
    if (!late && !somebody_left_) continue;
    missing_.erase(name);
    to_ask_.push_back(name);
    changed_.wait_for(lock, kSoon * 4, [&] { return over() || missing_.contains(name); });
    if (over()) break;
    const auto answer = missing_.find(name);
    const bool known = answer != missing_.end() && !answer->second.who.empty();
    const bool never = known && answer->second.left;
    const Duration waited(std::chrono::nanoseconds(now - began).count());
    const std::string why = fmt::format("rank {} has waited {} for tensor '{}': {}", settings_.role.number,
                                        rounded(waited), name, waits_for(name));
    if (now >= until || never) {
      if (!give_up_) give_up_ = SessionError{never ? SessionStatus::kLost : SessionStatus::kTimeout, why};
      changed_.wait(lock, over);
    } else if (late) {
      fmt::print(stderr, "weir: {}\n", why);
      warn = now + seconds(settings_.warn_after);
    }
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
  const bool told = changed_.wait_for(lock, seconds(settings_.patience), [&] { return ended_.has_value(); });
  if (!told)
    return refusal(SessionStatus::kTimeout, fmt::format("others have not left for {} s", settings_.patience));
  if (ended_->status != SessionStatus::kState) return tl::unexpected(*ended_);
  return {};
}

}  // namespace weir::real
