#include "core/compare/stage.h"

#include <algorithm>

namespace weir {

std::optional<Stage> stage_of(const Op& op, const WorkTable& works) {
  switch (op.kind) {
    case OpKind::kBackward:
      return Stage::kBackward;
    case OpKind::kForward:
      return Stage::kForward;
    case OpKind::kSend:
      return Stage::kMessages;
    case OpKind::kSum:
      return Stage::kSum;
    case OpKind::kUpdate:
      return Stage::kUpdate;
    case OpKind::kWait:
    case OpKind::kHold:
      return Stage::kWait;
    case OpKind::kReduceScatter:
    case OpKind::kReduce:
      return Stage::kLocalOut;
    case OpKind::kAllGather:
    case OpKind::kBroadcast:
      return Stage::kLocalIn;
    case OpKind::kAllReduce:
      return Stage::kAllReduce;
    case OpKind::kCopy: {
      const Resource::Kind kind = works.resources()[works.of(op.id).resource].kind;
      if (kind == Resource::Kind::kCopyOut) return Stage::kLocalOut;
      return kind == Resource::Kind::kCopyIn ? Stage::kLocalIn : Stage::kCopyWithin;
    }
    case OpKind::kReceive:
    case OpKind::kJoin:
      return {};
  }
  return {};
}

OpRecord times_of(const Op& op, const Plan& plan, const Record& record, int iteration) {
  OpRecord times = record.of(op.id, iteration);
  if (op.kind != OpKind::kSend) return times;
  const OpRecord& receive = record.of(plan.messages()[op.message.index()].receive, iteration);
  times.submitted = std::max(times.submitted, receive.submitted);
  times.completed = std::max(times.completed, receive.completed);
  return times;
}

}  // namespace weir
