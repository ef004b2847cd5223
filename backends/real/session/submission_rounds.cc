#include "backends/real/session/submission_rounds.h"

#include <algorithm>

#include "backends/real/session/session_layout.h"

namespace weir::real {
namespace {

constexpr std::int64_t kUnnamed = 8;  // how many unnamed tensors of one size and type may be under way

bool same_but_kind(const TensorNote& a, const TensorNote& b) {
  return a.elements == b.elements && a.dtype == b.dtype && a.kept == b.kept && a.bytes == b.bytes;
}

}  // namespace

std::string SubmissionRounds::name(const TensorNote& tensor) const {
  const auto known = labels_.find(tensor.name);
  if (tensor.name.empty()) {
    const std::int64_t round = known == labels_.end() ? 0 : known->second.given;
    return fmt::format("without a name: {} ({})", text(tensor), round % kUnnamed);
  }
  if (known == labels_.end()) return tensor.name;
  const TensorNote& first = known->second.first;
  // If its size differs, it keeps the name, and is refused because that tensor is known.
  if (tensor.kind == first.kind || !same_but_kind(tensor, first)) return tensor.name;
  return fmt::format("{} ({})", tensor.name, tensor.kind);
}

void SubmissionRounds::add(const std::string& label, const TensorNote& tensor) {
  const auto [known, fresh] = labels_.try_emplace(label);
  if (known->second.tensors.empty()) known->second.first = tensor;
  known->second.tensors.insert(tensor.name);
  if (fresh && label.empty()) known->second.from = 0;
}

void SubmissionRounds::take(const std::string& label, const TensorNote& tensor) {
  Label& one = labels_.at(label);
  if (tensor.name != label) one.from = std::min(one.from.value_or(one.given), one.given);
  if (one.from && one.given >= *one.from)
    unreported_.rounds.push_back({label, one.given, tensor.name, text(tensor)});
  ++one.given;
}

void SubmissionRounds::watch(const WatchNote& note) {
  Label& one = labels_[note.label];
  // Until rounds were reported, the label had one kind.
  const std::int64_t until = std::min(one.from.value_or(one.given), one.given);
  for (std::int64_t round = note.round; round < until; ++round)
    unreported_.rounds.push_back({note.label, round, one.first.name, text(one.first)});
  one.from = std::min(one.from.value_or(note.round), note.round);
}

std::vector<std::string> SubmissionRounds::refuse(const std::string& label, const std::string& why) {
  Label& one = labels_[label];
  if (one.refused.empty()) one.refused = why;
  std::vector<std::string> tensors(one.tensors.begin(), one.tensors.end());
  if (!label.empty() && !one.tensors.contains(label)) tensors.push_back(label);
  return tensors;
}

std::string SubmissionRounds::refused(const std::string& label) const {
  const auto known = labels_.find(label);
  return known == labels_.end() ? std::string() : known->second.refused;
}

RoundsNote SubmissionRounds::unreported() { return std::exchange(unreported_, {}); }

}  // namespace weir::real
