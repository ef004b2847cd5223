#include "core/plan/race.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <vector>

#include "core/plan/access.h"
#include "core/plan/print.h"
#include "core/plan/reach.h"

namespace weir {
namespace {

struct Touch {
  Extent extent;
  OpId op;
  std::uint32_t position = 0;
  Access::Kind kind = Access::Kind::kRead;
};

// Two touches of which the first must come before the second, or before the second of the next iteration.
struct Pair {
  const Touch* before = nullptr;
  const Touch* after = nullptr;
  bool next = false;
  auto key() const { return std::tuple(before->position, after->position, next); }
};

bool by_place(const Touch& a, const Touch& b) {
  return std::tuple(a.extent.buffer, a.extent.replica, a.extent.range.offset, a.position) <
         std::tuple(b.extent.buffer, b.extent.replica, b.extent.range.offset, b.position);
}

std::vector<Touch> touches(const Plan& plan, const Order& order) {
  std::vector<Touch> all;
  std::vector<Access> accesses;
  for (const Op& op : plan.ops()) {
    accesses.clear();
    append_accesses(plan, op, accesses);
    for (const Access& access : accesses)
      all.push_back({access.extent, op.id, order.position(op.id), access.kind});
  }
  std::sort(all.begin(), all.end(), by_place);
  return all;
}

// The pairs that must be ordered in one buffer. Feed it one replica after the other.
class Sweep {
 public:
  explicit Sweep(const Order& order) : order_(order) {}

  // Walks along the bytes of one replica; at each byte where accesses begin or end, links those that are
  // there.
  void replica(std::span<const Touch> touches) {
    std::vector<Bytes> borders;
    for (const Touch& touch : touches) {
      borders.push_back(touch.extent.range.offset);
      borders.push_back(touch.extent.range.end());
    }
    std::sort(borders.begin(), borders.end());
    borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
    here_.clear();
    std::size_t next = 0;
    for (const Bytes at : borders) {
      std::erase_if(here_, [&](const Touch* touch) { return touch->extent.range.end() <= at; });
      const auto old = static_cast<std::ptrdiff_t>(here_.size());
      while (next < touches.size() && touches[next].extent.range.offset == at)
        here_.push_back(&touches[next++]);
      const auto earlier = [](const Touch* a, const Touch* b) { return a->position < b->position; };
      std::inplace_merge(here_.begin(), here_.begin() + old, here_.end(), earlier);
      link();
    }
  }

  // The pairs of all replicas, each once.
  std::vector<Pair> pairs() && {
    const auto earlier = [](const Pair& a, const Pair& b) { return a.key() < b.key(); };
    std::stable_sort(pairs_.begin(), pairs_.end(), earlier);
    const auto same = [](const Pair& a, const Pair& b) { return a.key() == b.key(); };
    pairs_.erase(std::unique(pairs_.begin(), pairs_.end(), same), pairs_.end());
    return std::move(pairs_);
  }

 private:
  using Run = std::span<const Touch* const>;

  void link() {
    runs_.clear();
    for (std::size_t first = 0; first < here_.size();) {
      std::size_t last = first + 1;
      while (last < here_.size() && commute(here_[last - 1]->kind, here_[last]->kind)) ++last;
      runs_.push_back(Run(here_).subspan(first, last - first));
      first = last;
    }
    if (runs_.size() < 2)
      return;  // all commute, or there is one op, which runs before itself in the next iteration
    for (std::size_t i = 1; i < runs_.size(); ++i) link(runs_[i - 1], runs_[i], false);
    const std::size_t last = runs_.size() - 1;
    if (commute(runs_[last].front()->kind, runs_[0].front()->kind)) {
      // The last run and the first of the next iteration are one run.
      link(runs_[last - 1], runs_[0], true);
      link(runs_[last], runs_[1], true);
    } else {
      link(runs_[last], runs_[0], true);
    }
  }

  // Of a run whose members follow one another by edges, the last stands for all before the border and the
  // first for all behind it.
  void link(Run before, Run after, bool next) {
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (i + 1 < before.size() && order_.adjacent(before[i]->position, before[i + 1]->position)) continue;
      for (std::size_t j = 0; j < after.size(); ++j) {
        if (j > 0 && order_.adjacent(after[j - 1]->position, after[j]->position)) continue;
        pairs_.push_back({before[i], after[j], next});
      }
    }
  }

  const Order& order_;
  std::vector<const Touch*> here_;  // the touches of one byte, in order of position
  std::vector<Run> runs_;
  std::vector<Pair> pairs_;
};

std::string_view verb(Access::Kind kind) {
  return kind == Access::Kind::kRead ? "reads" : kind == Access::Kind::kAdd ? "sums into" : "writes";
}

std::string describe(const Plan& plan, const Pair& pair) {
  const Touch& a = *pair.before;
  const Touch& b = *pair.after;
  const Bytes offset = std::max(a.extent.range.offset, b.extent.range.offset);
  const Bytes end = std::min(a.extent.range.end(), b.extent.range.end());
  const Slice shared{a.extent.buffer, a.extent.replica, offset, end - offset};
  if (pair.next) {
    return fmt::format(
        "race: {} {} {}, and in the next iteration {} {} it without waiting for that; a carried edge is "
        "missing",
        words(plan.op(a.op)), verb(a.kind), text(plan, shared), words(plan.op(b.op)), verb(b.kind));
  }
  return fmt::format("race: {} {} {} and {} {} it, but neither waits for the other", words(plan.op(a.op)),
                     verb(a.kind), text(plan, shared), words(plan.op(b.op)), verb(b.kind));
}

}  // namespace

Races races(const Plan& plan, const Order& order) {
  Races result;
  Reach reach(plan, order);
  const std::vector<Touch> all = touches(plan, order);
  for (std::size_t first = 0; first < all.size();) {
    const BufferId buffer = all[first].extent.buffer;
    Sweep sweep(order);
    while (first < all.size() && all[first].extent.buffer == buffer) {
      std::size_t last = first;
      const auto same = [&](const Extent& e) {
        return e.buffer == buffer && e.replica == all[first].extent.replica;
      };
      while (last < all.size() && same(all[last].extent)) ++last;
      sweep.replica(std::span(all).subspan(first, last - first));
      first = last;
    }
    for (const Pair& pair : std::move(sweep).pairs()) {
      const std::uint32_t from = pair.before->position;
      const std::uint32_t to = pair.after->position;
      if (pair.next ? reach.joined_next(from, to) : reach.joined(from, to)) {
        ++result.ordered;
      } else {
        result.findings.add(describe(plan, pair));
        if (result.findings.full()) return result;
      }
    }
  }
  return result;
}

}  // namespace weir
