#include "core/plan/race.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "core/plan/access.h"
#include "core/plan/print.h"
#include "core/plan/reach.h"

namespace weir {
namespace {

struct Touch {
  Range range;
  OpId op;
  End end;
  Access::Kind kind = Access::Kind::kRead;
  std::uint32_t position() const { return end.position; }
};

using Lane = std::span<const Touch>;  // of one replica of a buffer, in order of their first bytes

// Whether two replicas are used in the same way.
bool alike(const Lane& a, const Lane& b) {
  return std::ranges::equal(a, b, [](const Touch& x, const Touch& y) {
    return x.range == y.range && x.op == y.op && x.kind == y.kind;
  });
}

// All touches of a plan, lane by lane.
class Touches {
 public:
  Touches(const Plan& plan, const Order& order) {
    std::size_t lanes = 0;
    for (const Buffer& buffer : plan.buffers()) {
      first_lane_.push_back(lanes);
      lanes += static_cast<std::size_t>(buffer.replicas);
    }
    first_.assign(lanes + 1, 0);
    for_each(plan, [&](const Op&, const Access&, std::size_t lane) { ++first_[lane + 1]; });
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    touches_.resize(first_.back());
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    for_each(plan, [&](const Op& op, const Access& access, std::size_t lane) {
      touches_[next[lane]++] = {access.extent.range, op.id, order.end(op.id), access.kind};
    });
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const auto all = std::span(touches_).subspan(first_[lane], first_[lane + 1] - first_[lane]);
      std::ranges::sort(all, [](const Touch& a, const Touch& b) {
        return a.range.offset != b.range.offset ? a.range.offset < b.range.offset
                                                : a.position() < b.position();
      });
    }
  }

  Lane lane(BufferId buffer, int replica) const {
    const std::size_t lane = lane_of(buffer, replica);
    return std::span(touches_).subspan(first_[lane], first_[lane + 1] - first_[lane]);
  }

 private:
  template <class Visit>
  void for_each(const Plan& plan, const Visit& visit) const {
    std::vector<Access> accesses;
    for (const Op& op : plan.ops()) {
      accesses.clear();
      append_accesses(plan, op, accesses);
      for (const Access& access : accesses) {
        visit(op, access, lane_of(access.extent.buffer, access.extent.replica));
      }
    }
  }

  std::size_t lane_of(BufferId buffer, int replica) const {
    return first_lane_[buffer.index()] + static_cast<std::size_t>(replica);
  }

  std::vector<std::size_t> first_lane_;  // by buffer
  std::vector<std::size_t> first_;       // by lane, and the end
  std::vector<Touch> touches_;
};

// Two touches. The first must end before the second begins, or before the second of the next iteration
// begins. Stored as one number that sorts by both positions.
class Pair {
 public:
  Pair(End before, End after, bool next)
      : key_(std::uint64_t{before.position} << 33 | std::uint64_t{before.received} << 32 |
             std::uint64_t{after.position} << 1 | (next ? 1U : 0U)) {}
  End before() const {
    return {static_cast<std::uint32_t>(key_ >> 33) & 0x7fffffffU, (key_ >> 32 & 1) != 0 ? 1U : 0U};
  }
  std::uint32_t after() const { return static_cast<std::uint32_t>(key_ & 0xffffffff) >> 1; }
  bool next() const { return (key_ & 1) != 0; }
  std::size_t hash() const { return key_ * 0x9e3779b97f4a7c15U; }
  friend auto operator<=>(const Pair&, const Pair&) = default;

 private:
  std::uint64_t key_;
};

// The pairs of one buffer. Its replicas produce most pairs again, so the pairs added last are remembered.
class Pairs {
 public:
  void clear() { pairs_.clear(); }

  void add(Pair pair) {
    std::uint32_t& place = recent_[pair.hash() >> (64 - kBits)];
    if (place < pairs_.size() && pairs_[place] == pair) return;
    place = static_cast<std::uint32_t>(pairs_.size());
    pairs_.push_back(pair);
  }

  // Sorted, without duplicates.
  std::span<const Pair> sorted() {
    std::ranges::sort(pairs_);
    pairs_.erase(std::unique(pairs_.begin(), pairs_.end()), pairs_.end());
    return pairs_;
  }

 private:
  static constexpr int kBits = 16;
  std::vector<std::uint32_t> recent_ =
      std::vector<std::uint32_t>(std::size_t{1} << kBits);  // places, by hash
  std::vector<Pair> pairs_;
};

// Finds the pairs of one replica that must be ordered. It walks along the bytes. At each byte, the touches
// there fall into runs that commute. Where a touch begins or ends, it links the runs beside that touch. All
// other runs were neighbours before, so they are linked already.
class Sweep {
 public:
  Sweep(const Order& order, Pairs& pairs) : order_(order), pairs_(pairs) {}

  void operator()(Lane lane) {
    ends_.clear();
    for (const Touch& touch : lane) ends_.emplace_back(touch.range.end(), touch.position());
    std::ranges::sort(ends_);
    std::size_t begun = 0;
    for (std::size_t ended = 0; ended < ends_.size();) {
      Bytes at = ends_[ended].first;
      if (begun < lane.size()) at = std::min(at, lane[begun].range.offset);
      changed_.clear();
      const std::size_t old = ended;
      while (ended < ends_.size() && ends_[ended].first == at) changed_.push_back(ends_[ended++].second);
      remove(ended - old, at);
      const std::size_t next = begun;
      while (begun < lane.size() && lane[begun].range.offset == at) ++begun;
      add(lane.subspan(next, begun - next));
      link_changed();
    }
  }

 private:
  // Positions in here_; the second is one past the last.
  struct Run {
    std::size_t first;
    std::size_t last;
  };

  // Removes the changed touches that end at this byte; one by one if they are few.
  void remove(std::size_t count, Bytes at) {
    if (8 * count > here_.size()) {
      std::erase_if(here_, [&](const Touch* touch) { return touch->range.end() <= at; });
    } else {
      for (const std::uint32_t position : changed_)
        here_.erase(std::ranges::lower_bound(here_, position, {}, &Touch::position));
    }
  }

  void add(Lane begun) {
    const auto old = static_cast<std::ptrdiff_t>(here_.size());
    for (const Touch& touch : begun) {
      changed_.push_back(touch.position());
      here_.push_back(&touch);
    }
    std::inplace_merge(here_.begin(), here_.begin() + old, here_.end(),
                       [](const Touch* a, const Touch* b) { return a->position() < b->position(); });
  }

  bool together(std::size_t place) const { return commute(here_[place]->kind, here_[place + 1]->kind); }

  Run run_at(std::size_t place) const {
    Run run{place, place + 1};
    while (run.first > 0 && together(run.first - 1)) --run.first;
    while (run.last < here_.size() && together(run.last - 1)) ++run.last;
    return run;
  }

  void link_changed() {
    if (here_.empty()) return;
    const Run front = run_at(0);
    // If all touches commute, nothing needs an order. A single op runs before itself in the next iteration.
    if (front.last == here_.size()) return;
    const Run second = run_at(front.last);
    const Run back = run_at(here_.size() - 1);
    const Run second_last = run_at(back.first - 1);
    std::ranges::sort(changed_);
    linked_ = 0;
    bool at_border = false;  // whether the border between two iterations is reached
    for (const std::uint32_t position : changed_) {
      const auto found = std::ranges::lower_bound(here_, position, {}, &Touch::position);
      const auto place = static_cast<std::size_t>(found - here_.begin());
      at_border = at_border || place <= second.last || place >= second_last.first;
      const bool there = found != here_.end() && (*found)->position() == position;
      if (!there && (place == 0 || place == here_.size())) continue;
      const Run run = run_at(there ? place : place - 1);
      if (there || place < run.last) {
        if (run.first > 0) link_at(run.first);
        if (run.last < here_.size()) link_at(run.last);
      } else {
        link_at(place);
      }
    }
    if (!at_border) return;
    if (commute(here_[back.first]->kind, here_[front.first]->kind)) {
      // The last run and the first of the next iteration are one run.
      link(second_last, front, true);
      link(back, second, true);
    } else {
      link(back, front, true);
    }
  }

  // Links the runs that meet at this place, once. Places must come in order.
  void link_at(std::size_t place) {
    if (place <= linked_) return;
    linked_ = place;
    link(run_at(place - 1), run_at(place), false);
  }

  bool adjacent(std::size_t place) const {
    return order_.adjacent(here_[place]->end, here_[place + 1]->position(), false);
  }

  // Edges may join the members of a run one after the other. Then a pair needs only the last member of the
  // run before, or the first member of the run after.
  void link(const Run& before, const Run& after, bool next) {
    for (std::size_t i = before.first; i < before.last; ++i) {
      if (i + 1 < before.last && adjacent(i)) continue;
      for (std::size_t j = after.first; j < after.last; ++j) {
        if (j > after.first && adjacent(j - 1)) continue;
        pairs_.add({here_[i]->end, here_[j]->end, next});
      }
    }
  }

  const Order& order_;
  Pairs& pairs_;
  std::vector<std::pair<Bytes, std::uint32_t>> ends_;  // where touches end, and the touches' positions
  std::vector<const Touch*> here_;                     // the touches of one byte, in order of position
  std::vector<std::uint32_t> changed_;                 // positions of touches that begin or end at it
  std::size_t linked_ = 0;  // the last place at this byte where two runs were linked
};

std::string_view verb(Access::Kind kind) {
  return kind == Access::Kind::kRead ? "reads" : kind == Access::Kind::kAdd ? "sums into" : "writes";
}

std::string describe(const Plan& plan, const Touch& a, const Touch& b, const Slice& shared, bool next) {
  if (next) {
    return fmt::format(
        "race: {} {} {}, and in the next iteration {} {} it without waiting for that; a carried edge is "
        "missing",
        words(plan.op(a.op)), verb(a.kind), text(plan, shared), words(plan.op(b.op)), verb(b.kind));
  }
  return fmt::format("race: {} {} {} and {} {} it, but neither waits for the other", words(plan.op(a.op)),
                     verb(a.kind), text(plan, shared), words(plan.op(b.op)), verb(b.kind));
}

std::string describe(const Plan& plan, const Touches& touches, BufferId buffer, Pair pair) {
  for (int replica = 0; replica < plan.buffer(buffer).replicas; ++replica) {
    const Lane lane = touches.lane(buffer, replica);
    for (const Touch& a : lane) {
      if (a.end != pair.before()) continue;
      for (const Touch& b : lane) {
        const Bytes offset = std::max(a.range.offset, b.range.offset);
        const Bytes end = std::min(a.range.end(), b.range.end());
        if (b.position() != pair.after() || end <= offset || commute(a.kind, b.kind)) continue;
        return describe(plan, a, b, {buffer, replica, offset, end - offset}, pair.next());
      }
    }
  }
  return {};
}

// Whether the end comes before the machine's own op of an all-reduce has been submitted. The other machines'
// ops do not count: this machine reads its bytes, and sends them, when its own op is due.
bool before_own_op(const Plan& plan, const Order& order, Reach& reach, const Op& op, End before, bool next) {
  return std::ranges::any_of(order.before(order.position(op.id)), [&](const Arc arc) {
    const Op& event = plan.op(order.sequence()[arc.position]);
    const OpId receive = arc.received != 0 ? plan.messages()[event.message.index()].receive : event.id;
    if (plan.op(receive).machine != op.machine || (arc.carried != 0 && !next)) return false;
    const bool over = next && arc.carried == 0;  // the path crosses the border there
    const End waited{arc.position & 0x7fffffffU, arc.received};
    if (before == waited && !over) return true;
    return over ? reach.joined_next(before, arc.position) : reach.joined(before, arc.position);
  });
}

}  // namespace

Races races(const Plan& plan, const Order& order) {
  Races result;
  Reach reach(plan, order);
  const Touches touches(plan, order);
  Pairs pairs;
  Sweep sweep(order, pairs);
  const auto ordered = [&](Pair pair) {
    const Op& after = plan.op(order.sequence()[pair.after()]);
    if (meets(after.kind) == Meets::kMachines && order.end(after.id) != pair.before())
      return before_own_op(plan, order, reach, after, pair.before(), pair.next());
    if (order.adjacent(pair.before(), pair.after(), pair.next())) return true;
    return pair.next() ? reach.joined_next(pair.before(), pair.after())
                       : reach.joined(pair.before(), pair.after());
  };
  for (std::size_t i = 0; i < plan.buffers().size(); ++i) {
    const BufferId buffer(i);
    pairs.clear();
    for (int replica = 0; replica < plan.buffer(buffer).replicas; ++replica) {
      const Lane lane = touches.lane(buffer, replica);
      // A replica that is used like the one before gives the same pairs.
      if (replica > 0 && alike(lane, touches.lane(buffer, replica - 1))) continue;
      sweep(lane);
    }
    for (const Pair pair : pairs.sorted()) {
      if (ordered(pair)) {
        ++result.ordered;
      } else {
        result.findings.add(describe(plan, touches, buffer, pair));
        if (result.findings.full()) return result;
      }
    }
  }
  return result;
}

}  // namespace weir
