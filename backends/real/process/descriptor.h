// Owns a file descriptor and closes it.
#pragma once

#include <unistd.h>

#include <utility>

namespace weir::real {

/// A resource that can be moved.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, kNone)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (valid()) ::close(number_);
  }

  int number() const { return number_; }
  bool valid() const { return number_ >= 0; }

 private:
  static constexpr int kNone = -1;
  int number_ = kNone;
};

}  // namespace weir::real
