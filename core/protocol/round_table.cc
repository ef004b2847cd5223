#include "core/protocol/round_table.h"

#include <fmt/format.h>

namespace weir {

RoundTable::Finding RoundTable::take(int rank, const RoundNote& round, std::size_t ranks) {
  const auto [known, fresh] = labels_.try_emplace(round.label);
  Label& label = known->second;
  Finding finding;
  if (label.wrong) return finding;
  finding.watch = !round.label.empty() && (fresh || round.round < label.from);
  if (finding.watch) label.from = round.round;
  const auto [said, first] = label.rounds.try_emplace(round.round, Reported{round, rank});
  const Reported& other = said->second;
  label.wrong = other.round.tensor != round.tensor;
  if (label.wrong)
    finding.wrong =
        fmt::format("rank {} has {}, but rank {} has {}", other.rank, other.round.what, rank, round.what);
  if (++said->second.times == ranks) label.rounds.erase(said);
  return finding;
}

}  // namespace weir
