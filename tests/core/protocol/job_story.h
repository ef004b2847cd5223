// Checks how the processes of a job ended. What each reports must be true, reports of one cause must agree,
// and nobody may wait longer than promised.
#pragma once

#include <string>

#include "tests/core/protocol/job_world.h"

namespace weir {

/// Reads a world whose run has ended.
class JobStory {
 public:
  explicit JobStory(const JobWorld& world);
  /// The first error; empty if there is none.
  std::string wrong() const;

 private:
  using Kind = JobFault::Kind;

  std::string wrong_with(const JobOutcome& outcome) const;
  std::string wrong_success() const;
  std::string wrong_verdict(const std::string& whole, Instant at) const;
  std::string wrong_reason(const std::string& text, Instant at) const;
  std::string wrong_machine(const JobOutcome& outcome) const;
  std::string wrong_absence(const std::string& names) const;
  std::string unnoticed() const;
  std::string left_behind() const;
  std::string late() const;
  /// The first process of this place; null if it has not begun.
  const JobOutcome* first_of(int place) const;
  bool has(int place, std::initializer_list<Kind> kinds, Instant by) const;
  /// Whether it did something by itself that makes others fail.
  bool culprit(const std::string& name, Instant by) const;
  /// Whether the machine and the coordinator could not talk at some time.
  bool apart(const JobOutcome& outcome) const;
  int place(const std::string& name) const;
  /// Whether all (or any) of the machines listed, as in "gpu[0], gpu[2]", have had trouble.
  bool troubled(const std::string& names, bool all, Instant by) const;

  const JobWorld& world_;
  const JobOutcome* coordinator_ = nullptr;  // the first
};

}  // namespace weir
