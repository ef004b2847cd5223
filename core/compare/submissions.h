// The order in which the cores of two runs of one plan submitted their ops, and the reason for each
// difference. A node submits an op when the last completion that it waits for has been reported. If that
// holds in both records, orders differ only because the worlds' completions do. A core that breaks this rule
// is detected.
#pragma once

#include <optional>
#include <vector>

#include "core/compare/difference.h"

namespace weir {

/// An op in an iteration; warm-up iterations count too.
struct Turn {
  OpId op;
  int iteration = 0;
  friend bool operator==(const Turn&, const Turn&) = default;
};

/// When an op could be submitted: at the last of the completions that it waits for. These are the ops named
/// by the plan, the op itself one iteration before, and all of the machine's ops two iterations before. A
/// join is replaced by the completion that it waited for.
struct Readiness {
  std::optional<Turn> after;  // none: at the beginning
  Instant at;
};

/// One submission in one record.
struct Submitted {
  Instant at;
  Readiness ready;
};

/// Two ops of a machine that the first record's core submitted in this order, and the second's in the
/// opposite order.
struct Swap {
  Turn first;   // in the first record
  Turn second;  // in the first record
  Submitted first_in_a;
  Submitted second_in_a;
  Submitted first_in_b;
  Submitted second_in_b;
  /// Whether they also became ready in the opposite order. If not, both became ready within the time that a
  /// core takes to notice.
  bool ready_in_other_order() const {
    return first_in_a.ready.at <= second_in_a.ready.at && second_in_b.ready.at <= first_in_b.ready.at;
  }
};

struct MachineOrder {
  MachineId machine;
  std::size_t submitted = 0;  // ops submitted in the iterations that both records have
  std::size_t swapped =
      0;  // of these, those that follow another op in the first record, but precede it in the second
  std::size_t ready_in_other_order = 0;  // of these, those that do so because completions did
  std::optional<Swap> first;             // the first swap in the first record's order
};

/// How well one record follows the rule.
struct Promptness {
  std::size_t early = 0;  // ops submitted before they were ready; 0 in a correct core
  std::optional<Turn> first_early;
  Duration longest;  // from readiness to submission
};

struct Orders {
  int iterations = 0;  // that both records have
  std::vector<MachineOrder> machines;
  Promptness a;
  Promptness b;
  bool equal() const;
  /// Whether every submission in both records followed the last completion that it waited for.
  bool explained() const { return a.early == 0 && b.early == 0; }
};

/// Ops that one record submitted at the same instant have no order, so they do not count as swapped. Joins
/// are not submissions.
Orders orders(const Recorded& a, const Recorded& b);

}  // namespace weir
