// A file that may be compressed with gzip, as text that streams: what is read is what was packed, and a file
// that was not is read as it is. So recordings of gigabytes take little memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace weir {

/// Reads from the first byte to the last, once. One owner thread; neither copies nor moves.
class InflatedFile {
 public:
  explicit InflatedFile(std::string name);
  ~InflatedFile();
  InflatedFile(const InflatedFile&) = delete;
  InflatedFile& operator=(const InflatedFile&) = delete;

  /// Opens the file. Fails if it is none that can be read.
  Result<void> open();

  /// Whether there is a next byte. At the end of the file, and once it cannot be read, there is none.
  bool more() { return at_ < end_ || fill(); }
  /// The next byte, which there is.
  char peek() const { return piece_[at_]; }
  void next() {
    line_ += static_cast<int>(piece_[at_] == '\n');
    ++at_;
  }

  /// Of the next byte, from 1 on.
  std::int64_t line() const { return line_; }
  /// How many bytes were passed.
  std::uint64_t passed() const { return before_ + at_; }
  /// Why there are no more bytes, if that is not the file's end: it is cut short, damaged, or larger than
  /// kMost.
  const std::string& error() const { return error_; }

  /// Unpacked. What is larger is taken for a mistake.
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
