// Reads a file as a stream and unpacks it if it is compressed with gzip. So recordings of gigabytes need
// little memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace weir {

/// Reads once, from the first byte to the last. Belongs to one thread; neither copies nor moves.
class InflatedFile {
 public:
  explicit InflatedFile(std::string name);
  ~InflatedFile();
  InflatedFile(const InflatedFile&) = delete;
  InflatedFile& operator=(const InflatedFile&) = delete;

  /// Opens the file. Fails if it cannot be read.
  Result<void> open();

  /// Whether there is a next byte. There is none at the end of the file or after an error.
  bool more() { return at_ < end_ || fill(); }
  /// The next byte. Requires more().
  char peek() const { return piece_[at_]; }
  void next() {
    line_ += static_cast<int>(piece_[at_] == '\n');
    ++at_;
  }

  /// The line of the next byte, counted from 1.
  std::int64_t line() const { return line_; }
  /// The number of bytes read so far.
  std::uint64_t passed() const { return before_ + at_; }
  /// Why there are no more bytes, if not because the file ended: it is cut short, damaged, or larger than
  /// kMost.
  const std::string& error() const { return error_; }

  /// The largest size, unpacked. A larger file is considered a mistake.
  static constexpr std::uint64_t kMost = std::uint64_t{16} << 30;

 private:
  bool fill();

  std::string name_;
  void* file_ = nullptr;  // zlib's
  std::vector<char> piece_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  std::uint64_t before_ = 0;
  std::int64_t line_ = 1;
  std::string error_;
};

}  // namespace weir
