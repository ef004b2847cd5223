// An open file of the system's that closes itself.
#pragma once

#include <utility>

namespace weir::real {

/// Owns a file descriptor, or none (-1). Moves, and does not copy.
class File {
 public:
  File() = default;
  explicit File(int number) : number_(number) {}
  File(File&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  File& operator=(File&& other) noexcept;
  ~File();

  bool open() const { return number_ >= 0; }
  int number() const { return number_; }
  /// Closes the file if there is one.
  void close();

 private:
  int number_ = -1;
};

/// Whether both are the same file of the same file system, as two handles of one namespace are.
bool same_file(const File& one, const File& other);

}  // namespace weir::real
