// The findings of one step of a proof, limited to a number that a reader can use.
#pragma once

#include <string>

#include "core/base/result.h"

namespace weir {

class ProofErrors {
 public:
  void add(const std::string& text) {
    if (full()) return;
    text_ += (text_.empty() ? "" : "\n") + text;
    if (++count_ == kMost) text_ += "\n(there may be more)";
  }
  bool empty() const { return count_ == 0; }
  /// Whether further findings would be dropped.
  bool full() const { return count_ == kMost; }

  /// The findings, one a line. There must be at least one.
  Error error() const { return {text_}; }

 private:
  static constexpr std::size_t kMost = 8;
  std::string text_;
  std::size_t count_ = 0;
};

}  // namespace weir
