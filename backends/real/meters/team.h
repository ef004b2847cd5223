// Threads that do the same thing at the same time, to measure what they achieve together.
#pragma once

#include <barrier>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "core/base/result.h"
#include "core/base/units.h"

namespace weir::real {

/// The threads of a measurement, the caller among them: `run` gives all of them the same work at once. A
/// resource for one owner thread. The others sleep between runs and end with the object.
class Team {
 public:
  /// Does the part of the work of this member, counted from 0.
  using Work = std::function<void(int member)>;

  /// That many threads (the caller is member 0). If a NUMA node is given, all of them, also the caller, run
  /// on its CPUs from now on. Fails if there is no such node.
  static Result<std::unique_ptr<Team>> make(int members, std::optional<int> numa);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int members() const { return static_cast<int>(threads_.size()) + 1; }

  /// The time from when all members could begin until the last was done. There is no deadline, so the work
  /// must end.
  Duration run(const Work& work);

 private:
  explicit Team(int members) : begin_(members), end_(members) {}
  void serve(int member);

  std::barrier<> begin_;
  std::barrier<> end_;
  const Work* work_ = nullptr;  // null: the threads end
  std::vector<std::thread> threads_;
};

}  // namespace weir::real
