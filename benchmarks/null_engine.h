// A fluid world in which everything that has started ends together a second later. So only the core's own
// work takes time.
#pragma once

#include <algorithm>
#include <vector>

#include "core/simulate/engines/engine.h"

namespace weir::benchmarks {

class NullEngine final : public Engine {
 public:
  Result<void> set_paths(const Paths& /*paths*/, const Binding& /*binding*/) override { return {}; }
  void scale_link(LinkId /*link*/, double /*factor*/) override {}
  double seconds() const override { return seconds_; }
  void start_flow(std::uint32_t id, int /*path*/, Bytes /*bytes*/) override { started_.push_back(id); }
  void start_timer(std::uint32_t id, Duration /*duration*/) override { started_.push_back(id); }

  Result<void> run(const Begin& begin, const OnInstant& instant) override {
    begin();
    std::vector<std::uint32_t> ended;
    while (!started_.empty()) {
      ended.swap(started_);
      started_.clear();
      seconds_ += 1.0;
      std::sort(ended.begin(), ended.end());
      instant(ended);
    }
    return {};
  }

 private:
  std::vector<std::uint32_t> started_;
  double seconds_ = 0.0;
};

}  // namespace weir::benchmarks
