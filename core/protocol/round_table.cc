#include "core/protocol/round_table.h"

#include <fmt/format.h>

namespace weir {

RoundTable::Finding RoundTable::take(int rank, const RoundNote& turn, std::size_t ranks) {
  const auto [known, fresh] = labels_.try_emplace(turn.label);
  Label& label = known->second;
  Finding finding;
  if (label.wrong) return finding;
  finding.watch = !turn.label.empty() && (fresh || turn.turn < label.from);
  if (finding.watch) label.from = turn.turn;
  const auto [said, first] = label.turns.try_emplace(turn.turn, Reported{turn, rank});
  const Reported& other = said->second;
  label.wrong = other.turn.tensor != turn.tensor;
  if (label.wrong)
    finding.wrong =
        fmt::format("rank {} has {}, but rank {} has {}", other.rank, other.turn.what, rank, turn.what);
  if (++said->second.times == ranks) label.turns.erase(said);
  return finding;
}

}  // namespace weir
