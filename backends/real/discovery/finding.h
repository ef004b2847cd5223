// The result of one check of a host: a line of weir doctor.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weir::real {

/// From "nothing to do" over "good to know" and "costs speed" to "keeps something from working".
enum class Grade { kOk, kNote, kWarning, kWrong };

/// "ok", "note", "warning", "wrong".
std::string_view name(Grade grade);

struct Finding {
  std::string subject;  // what was checked: "nic eth0"
  Grade grade = Grade::kOk;
  std::string found;
  std::string remedy;  // what to do; empty if nothing
  friend bool operator==(const Finding&, const Finding&) = default;
};
using Findings = std::vector<Finding>;

/// The worst of them; kOk if there are none.
Grade worst(const Findings& findings);

}  // namespace weir::real
