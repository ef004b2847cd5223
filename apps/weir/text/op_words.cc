#include "apps/weir/text/op_words.h"

#include <fmt/format.h>

#include "core/plan/print.h"

namespace weir {

OpWords op_words(const Op& op, const PlannedRun& of) {
  const std::string& machine = of.cluster.machine(op.machine).name;
  OpWords words{fmt::format("{} on {}", name(op.kind), machine), {}, {}};
  if (is_message(op.kind)) {
    words.what = fmt::format("{} {} {} {}", name(op.kind), machine, peer_word(op.kind),
                             of.cluster.machine(op.peer).name);
  }
  if (op.layer >= 0) words.layer = of.workload.layer(op.layer).name;
  const Slice& slice = main_slice(op);
  if (!is_compute(op.kind) && slice.buffer.valid()) words.part = text(of.plan, slice);
  return words;
}

std::string whole_words(const Op& op, const PlannedRun& of) {
  const OpWords words = op_words(op, of);
  std::string text = fmt::format("op {} ({}", op.id, words.what);
  if (!words.layer.empty()) text += fmt::format(", layer '{}'", words.layer);
  if (!words.part.empty()) text += ", " + words.part;
  return text + ")";
}

}  // namespace weir
