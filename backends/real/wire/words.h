// The words (frame.h) that two nodes say over one connection.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "backends/real/wire/frame.h"
#include "backends/real/wire/stream.h"

namespace weir::real {

/// Owned by one thread; never blocks. Fails once the connection is lost, or what comes is no word.
class Words {
 public:
  explicit Words(Stream connection) : connection_(std::move(connection)) {}

  int connection() const { return connection_.number(); }

  /// Puts the word behind those that wait to be written.
  void say(const Frame& word);
  /// Writes as much as the connection takes now.
  Result<void> write();
  bool pending() const { return sent_ < out_.size() || connection_.pending(); }

  /// The next word that has come, if one has.
  Result<std::optional<Frame>> read();

 private:
  Stream connection_;
  std::vector<std::byte> out_;
  std::size_t sent_ = 0;  // of out_
  std::array<std::byte, 64 * kFrameSize> in_{};
  std::size_t begin_ = 0;  // of in_: what has come and has not been read
  std::size_t end_ = 0;
};

}  // namespace weir::real
