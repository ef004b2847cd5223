#include "core/formats/remarks.h"

#include <fmt/format.h>

#include <algorithm>

namespace weir {
namespace {

constexpr std::size_t kShown = 10;

}  // namespace

void Remarks::wrong(int line, const std::string& text) {
  wrong_.push_back(fmt::format("{}: {}", where(line), text));
}

void Remarks::assumed(int line, const std::string& text) {
  const auto known = std::find_if(assumed_.begin(), assumed_.end(),
                                  [&](const Assumption& assumption) { return assumption.text == text; });
  if (known != assumed_.end()) {
    ++known->lines;
  } else {
    assumed_.push_back({text, line, 1});
  }
}

Error Remarks::error() const {
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, wrong_.size()); ++i) text += (i > 0 ? "\n" : "") + wrong_[i];
  if (wrong_.size() > kShown) text += fmt::format("\nand {} more", wrong_.size() - kShown);
  return {text};
}

std::vector<std::string> Remarks::warnings() const {
  std::vector<Assumption> sorted = assumed_;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Assumption& a, const Assumption& b) { return a.line < b.line; });
  std::vector<std::string> lines;
  for (const Assumption& one : sorted) {
    const int more = one.lines - 1;
    lines.push_back(fmt::format("{}: {}", where(one.line), one.text));
    if (more > 0) lines.back() += fmt::format(" (here and {} more times)", more);
  }
  return lines;
}

std::string Remarks::where(int line) const { return line > 0 ? fmt::format("{}:{}", file_, line) : file_; }

}  // namespace weir
