// What a check of a host says: a line of weir doctor.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weir::real {

/// From nothing to do, over what is good to know and what costs speed, to what keeps something from working.
enum class Grade { kOk, kNote, kWarning, kWrong };

/// "ok", "note", "warning", "wrong".
std::string_view name(Grade grade);

struct Finding {
  std::string subject;  // what was looked at: "nic eth0"
  Grade grade = Grade::kOk;
  std::string found;
  std::string remedy;  // what to do; empty where there is nothing to do
  friend bool operator==(const Finding&, const Finding&) = default;
};
using Findings = std::vector<Finding>;

/// The worst of them; kOk if there is none.
Grade worst(const Findings& findings);

}  // namespace weir::real
