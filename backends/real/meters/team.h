// A few threads that do the same thing at the same time, for measuring what they reach together.
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

/// The threads of a measurement, of which the caller is one: `run` hands all of them the same work at once. A
/// resource, for one owner thread; the others sleep between two runs and end with the object.
class Team {
 public:
  /// Does its part of the work as the member of that number, from 0.
  using Work = std::function<void(int member)>;

  /// That many threads (the caller is member 0), each on any CPU of the NUMA node if one is given: the caller
  /// too, from now on. An error if there is no such node.
  static Result<std::unique_ptr<Team>> make(int members, std::optional<int> numa);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int members() const { return static_cast<int>(threads_.size()) + 1; }

  /// How long it took from when all members could begin until the last was done. The work must end: there is
  /// no deadline, as it waits for nothing.
  Duration run(const Work& work);

 private:
  explicit Team(int members) : begin_(members), end_(members) {}
  void serve(int member);

  std::barrier<> begin_;
  std::barrier<> end_;
  const Work* work_ = nullptr;  // null tells the threads to end
  std::vector<std::thread> threads_;
};

}  // namespace weir::real
