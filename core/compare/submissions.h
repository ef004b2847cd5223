// In which order the cores of two runs of one plan submitted their ops, and why where it differs. A node
// submits an op when the last completion that it waits for has been reported. So if that holds in both
// records, orders differ only as the worlds' completions do; and a core that does otherwise is found out.
#pragma once

#include <optional>
#include <vector>

#include "core/compare/difference.h"

namespace weir {

/// An op in an iteration, warm-up counted.
struct Turn {
  OpId op;
  int iteration = 0;
  friend bool operator==(const Turn&, const Turn&) = default;
};

/// When an op could be submitted: at the completion that came last among those that it waits for. These are
/// what the plan says, the op's own of the iteration before, and all of the machine's of the one before that.
/// Through a join, the completion that the join waited for.
struct Readiness {
  std::optional<Turn> after;  // none: at the beginning
  Instant at;
};

/// What one record says of a submission.
struct Submitted {
  Instant at;
  Readiness ready;
};

/// Two ops of a machine that the first record's core submitted one before the other, and the second's the
/// other way round.
struct Swap {
  Turn first;   // in the first record
  Turn second;  // in the first record
  Submitted first_in_a;
  Submitted second_in_a;
  Submitted first_in_b;
  Submitted second_in_b;
  /// Their readiness came in another order too. Else both came ready within what a core takes to notice.
  bool ready_in_other_order() const {
    return first_in_a.ready.at <= second_in_a.ready.at && second_in_b.ready.at <= first_in_b.ready.at;
  }
};

struct MachineOrder {
  MachineId machine;
  std::size_t submitted = 0;  // ops, over the iterations that both records have
  std::size_t swapped =
      0;  // of these, which any other came before in the first record and after in the second
  std::size_t ready_in_other_order = 0;  // of these, which did so since completions did
  std::optional<Swap> first;             // the first in the first record's order
};

/// How one record keeps to the rule.
struct Promptness {
  std::size_t early = 0;  // ops that were submitted before they were ready: none, of a core that is right
  std::optional<Turn> first_early;
  Duration longest;  // from readiness to submission
};

struct Orders {
  int iterations = 0;  // that both records have
  std::vector<MachineOrder> machines;
  Promptness a;
  Promptness b;
  bool equal() const;
  /// Whether every submission of both records followed the last completion that it waited for.
  bool explained() const { return a.early == 0 && b.early == 0; }
};

/// Ops that a record has at one instant have no order there, so they differ from none. Joins are no
/// submissions.
Orders orders(const Recorded& a, const Recorded& b);

}  // namespace weir
