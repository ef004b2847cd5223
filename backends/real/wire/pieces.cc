#include "backends/real/wire/pieces.h"

#include <algorithm>
#include <utility>

namespace weir::real {

std::vector<std::span<std::byte>> cut(std::vector<std::span<std::byte>> parts, Piece piece) {
  if (piece.count == 1) return parts;
  std::size_t all = 0;
  for (const auto& part : parts) all += part.size();
  const Bytes message(static_cast<std::int64_t>(all));
  auto skipped = static_cast<std::size_t>(piece.offset(message).count());
  auto left = static_cast<std::size_t>(piece.size(message).count());
  std::vector<std::span<std::byte>> own;
  for (const auto& part : parts) {
    const std::size_t before = std::min(skipped, part.size());
    const std::size_t taken = std::min(left, part.size() - before);
    if (taken > 0) own.push_back(part.subspan(before, taken));
    skipped -= before;
    left -= taken;
  }
  return own;
}

bool Pieces::ready(MessageId message) {
  if (count(message) == 1) return true;
  const std::lock_guard lock(mutex_);
  Progress& progress = progress_[message];
  if (++progress.ready < count(message)) return false;
  progress.ready = 0;
  return true;
}

std::optional<Instant> Pieces::done(MessageId message, Instant started) {
  if (count(message) == 1) return started;
  const std::lock_guard lock(mutex_);
  Progress& progress = progress_[message];
  progress.started = progress.done == 0 ? started : std::min(progress.started, started);
  if (++progress.done < count(message)) return std::nullopt;
  progress.done = 0;
  return progress.started;
}

}  // namespace weir::real
