#include "core/plan/sums.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>

#include "core/plan/access.h"
#include "core/plan/contributors.h"
#include "core/plan/print.h"
#include "core/plan/symbols.h"

namespace weir {
namespace {

struct Gpu {
  MachineId machine;
  int index = 0;
};

// Every GPU of the machines that make gradients.
std::vector<Gpu> gpus_of(const Plan& plan) {
  std::vector<Gpu> gpus;
  for (std::size_t machine = 0; machine < plan.machines(); ++machine) {
    int count = 0;
    for (const Op& op : plan.ops(MachineId(machine))) {
      if (makes_gradients(op.kind) && op.into.size > Bytes(0)) count = plan.buffer(op.into.buffer).replicas;
    }
    for (int i = 0; i < count; ++i) gpus.push_back({MachineId(machine), i});
  }
  return gpus;
}

// The symbolic run. After an error its state is meaningless.
class Run {
 public:
  explicit Run(const Plan& plan)
      : plan_(plan),
        gpus_(gpus_of(plan)),
        contributors_(gpus_.size()),
        memory_(plan.buffers().size()),
        reduced_(plan.all_reduces().size(), false) {
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      memory_[i].resize(static_cast<std::size_t>(plan.buffers()[i].replicas));
    }
    first_gpu_.assign(plan.machines(), 0);
    for (std::size_t i = gpus_.size(); i-- > 0;) first_gpu_[gpus_[i].machine.index()] = i;
  }

  Result<Bytes> operator()(const Order& order) && {
    for (const OpId event : order.sequence()) {
      run(plan_.op(event));
      if (error_) return tl::unexpected(*error_);
    }
    return right_;
  }

 private:
  void run(const Op& op) {
    switch (op.kind) {
      case OpKind::kBackward:
        return contribute(op);
      case OpKind::kForward:
        return inspect(op);
      case OpKind::kSend:
        return move(op, plan_.op(plan_.messages()[op.message.index()].receive));
      case OpKind::kReceive:
      case OpKind::kJoin:
      case OpKind::kWait:
      case OpKind::kHold:
        return;  // a receive's message was handled at its send
      case OpKind::kCopy:
        return move(op, op);
      case OpKind::kSum:
        return sum(op);
      case OpKind::kUpdate:
        return update(op);
      case OpKind::kReduceScatter:
        return reduce_scatter(op);
      case OpKind::kAllGather:
        return all_gather(op);
      case OpKind::kReduce:
        return reduce(op);
      case OpKind::kBroadcast:
        return broadcast(op);
      case OpKind::kAllReduce:
        return all_reduce(op);
    }
  }

  void contribute(const Op& op) {
    if (op.into.size == Bytes(0)) return;
    for (const Extent& extent : Extents(plan_, op.into, op.dtype)) {
      const std::size_t gpu = first_gpu_[op.machine.index()] + static_cast<std::size_t>(extent.replica);
      into_.assign(1, {extent.range, extent.range.offset, contributors_.only(gpu), op.id});
      write(extent, into_);
    }
  }

  void inspect(const Op& op) {
    if (op.from.size == Bytes(0)) return;
    const SetId all = contributors_.all();
    for (const Extent& extent : Extents(plan_, op.from, op.dtype)) {
      read(op, extent, from_);
      for (const Symbol& symbol : from_) {
        if (error_) return;
        if (symbol.gradient != symbol.range.offset) return complain_place(op, extent, symbol);
        if (symbol.set != all) return complain_set(op, extent, symbol);
        if (symbol.updated != updated_.value_or(symbol.updated)) {
          return complain(op, fmt::format("some parameters are updated, others are not: {} is{}",
                                          left_by(extent, symbol), symbol.updated ? "" : " not"));
        }
        updated_ = symbol.updated;
      }
      right_ += extent.range.size;
    }
  }

  void move(const Op& source, const Op& target) {
    find_moves(plan_, source.from, target.into, source.dtype, moves_);
    for (const Move& move : moves_) {
      read(source, move.from, from_);
      shift(from_, move);
      copy(target, from_, into_);
      write(move.into, into_);
    }
  }

  void sum(const Op& op) {
    find_moves(plan_, op.from, op.into, op.dtype, moves_);
    for (const Move& move : moves_) {
      read(op, move.from, from_);
      shift(from_, move);
      read(op, move.into, into_);
      unite(op, move.into, into_, from_, total_);
      write(move.into, total_);
    }
  }

  // The updated parameters count as the sum that they were made from. An optimizer's step is not linear, so
  // that sum must be complete.
  void update(const Op& op) {
    const SetId all = contributors_.all();
    for (const Extent& extent : Extents(plan_, op.into, op.dtype)) {
      read(op, extent, from_);
      for (const Symbol& symbol : from_) {
        if (!error_ && symbol.set != all) complain_set(op, extent, symbol);
        if (symbol.updated) complain(op, fmt::format("updated twice: {} has been", left_by(extent, symbol)));
      }
      copy(op, from_, into_);
      for (Symbol& symbol : into_) symbol.updated = true;
      write(extent, into_);
    }
  }

  // Computes the sum over the group, as symbols of its first replica.
  void add_up(const Op& op, const Extents& all) {
    read(op, all[0], total_);
    for (int i = 1; i < all.size(); ++i) {
      read(op, all[i], from_);
      unite(op, all[i], total_, from_, into_);
      total_.swap(into_);
    }
  }

  void reduce_scatter(const Op& op) {
    const Extents all(plan_, op.into, op.dtype);
    add_up(op, all);
    for (int i = 0; i < all.size(); ++i) {
      const Extent extent = all[i];
      const Range shard = share(extent.range, op.dtype, i, all.size());
      into_.clear();
      forget(op, extent.range.offset, shard.offset);
      for (const Symbol& symbol : total_) {
        const bool apart = symbol.range.end() <= shard.offset || shard.end() <= symbol.range.offset;
        if (!apart) into_.push_back(clipped(symbol, shard));
      }
      forget(op, shard.end(), extent.range.end());
      write(extent, into_);
    }
  }

  void all_gather(const Op& op) {
    Slice shards = op.into;
    shards.on.kind = Replicas::Kind::kShards;
    total_.clear();
    for (const Extent& shard : Extents(plan_, shards, op.dtype)) {
      if (shard.range.size == Bytes(0)) continue;
      read(op, shard, from_);
      copy(op, from_, into_);
      for (const Symbol& symbol : into_) append(total_, symbol);
    }
    for (const Extent& extent : Extents(plan_, op.into, op.dtype)) write(extent, total_);
  }

  void reduce(const Op& op) {
    const Extents all(plan_, op.into, op.dtype);
    add_up(op, all);
    for (const Extent& extent : all) {
      into_.clear();
      forget(op, extent.range.offset, extent.range.end());
      write(extent, extent.replica == op.root ? total_ : into_);
    }
  }

  void broadcast(const Op& op) {
    const Extents all(plan_, op.into, op.dtype);
    Extent root = all[0];
    root.replica = op.root;
    read(op, root, from_);
    copy(op, from_, into_);
    for (const Extent& extent : all) write(extent, into_);
  }

  // Runs all ops of the all-reduce when the first one comes: nothing of it happens before all may begin.
  void all_reduce(const Op& first) {
    if (reduced_[first.all_reduce.index()]) return;
    reduced_[first.all_reduce.index()] = true;
    const Extent place = Extents(plan_, first.into, first.dtype)[0];
    total_.clear();
    for_each_extent(first.all_reduce, [&](const Op& op, const Extent& extent) {
      read(op, extent, from_);
      shift(from_, {extent, place});
      if (total_.empty()) return total_.swap(from_);
      unite(op, place, total_, from_, into_);
      total_.swap(into_);
    });
    for_each_extent(first.all_reduce, [&](const Op& op, const Extent& extent) {
      copy(op, total_, into_);
      shift(into_, {place, extent});
      write(extent, into_);
    });
  }

  template <class Visit>
  void for_each_extent(AllReduceId id, const Visit& visit) const {
    for (const OpId member : plan_.all_reduce(id)) {
      const Op& op = plan_.op(member);
      for (const Extent& extent : Extents(plan_, op.into, op.dtype)) visit(op, extent);
    }
  }

  // Reads the whole extent; reports an error if the op must not read its contents.
  void read(const Op& op, const Extent& extent, std::vector<Symbol>& found) {
    found.clear();
    symbols_of(extent).read(extent.range, found);
    if (const std::optional<Bytes> missing = gap(found, extent.range)) {
      complain(op, fmt::format("reads {}, but nothing has written its byte at {} in this iteration",
                               name(extent, extent.range), missing->count()));
    }
    for (const Symbol& symbol : found) {
      if (symbol.set.valid()) continue;
      complain(op, fmt::format("reads {}, which {} left without a defined value", name(extent, symbol.range),
                               words(plan_.op(symbol.writer))));
    }
  }

  // The symbols must cover the extent.
  void write(const Extent& extent, const std::vector<Symbol>& symbols) {
    if (!error_) symbols_of(extent).write(symbols);
  }

  // Marks these bytes as unusable in what is about to be written.
  void forget(const Op& op, Bytes begin, Bytes end) {
    if (begin < end) into_.push_back({{begin, end - begin}, Bytes(0), SetId::none(), op.id});
  }

  // Moves the symbols to their target bytes.
  static void shift(std::vector<Symbol>& symbols, const Move& move) {
    for (Symbol& symbol : symbols) symbol.range.offset += move.into.range.offset - move.from.range.offset;
  }

  // Copies the symbols, with this op as their writer.
  static void copy(const Op& op, const std::vector<Symbol>& from, std::vector<Symbol>& into) {
    into.clear();
    for (Symbol symbol : from) {
      symbol.writer = op.id;
      append(into, symbol);
    }
  }

  // Computes, byte by byte, the sums of two lists of symbols that cover the same range of `place`.
  void unite(const Op& op, const Extent& place, const std::vector<Symbol>& a, const std::vector<Symbol>& b,
             std::vector<Symbol>& sum) {
    sum.clear();
    for (std::size_t i = 0, j = 0; !error_ && i < a.size() && j < b.size();) {
      const Symbol left = clipped(a[i], b[j].range);
      const Symbol right = clipped(b[j], a[i].range);
      if (left.gradient != right.gradient) {
        complain(
            op, fmt::format("wrong slice: in {} it sums gradient bytes {}+{}, left by {}, and gradient bytes "
                            "{}+{}, left by {}",
                            name(place, left.range), left.gradient.count(), left.range.size.count(),
                            words(plan_.op(left.writer)), right.gradient.count(), right.range.size.count(),
                            words(plan_.op(right.writer))));
      }
      const std::optional<SetId> set = contributors_.united(left.set, right.set);
      if (!set) complain_twice(op, place, left, right);
      if (set) append(sum, {left.range, left.gradient, *set, op.id});
      const Bytes end = left.range.end();
      if (a[i].range.end() == end) ++i;
      if (b[j].range.end() == end) ++j;
    }
  }

  // Only the first error is kept: later ones follow from it.
  void complain(const Op& op, const std::string& what) {
    if (!error_) error_ = Error{fmt::format("{}: {}", words(op), what)};
  }

  void complain_twice(const Op& op, const Extent& place, const Symbol& left, const Symbol& right) {
    std::vector<std::size_t> common;
    std::ranges::set_intersection(contributors_.members(left.set), contributors_.members(right.set),
                                  std::back_inserter(common));
    complain(
        op,
        fmt::format("counted twice: in {} both operands hold the gradient of {}; they were left by {} and {}",
                    name(place, left.range), list(common), words(plan_.op(left.writer)),
                    words(plan_.op(right.writer))));
  }

  std::string left_by(const Extent& extent, const Symbol& symbol) const {
    return fmt::format("{}, left by {},", name(extent, symbol.range), words(plan_.op(symbol.writer)));
  }

  void complain_place(const Op& op, const Extent& extent, const Symbol& symbol) {
    complain(op,
             fmt::format("wrong slice: {} holds gradient bytes {}+{}, left by {}", name(extent, symbol.range),
                         symbol.gradient.count(), symbol.range.size.count(), words(plan_.op(symbol.writer))));
  }

  void complain_set(const Op& op, const Extent& extent, const Symbol& symbol) {
    std::vector<std::size_t> missing;
    std::ranges::set_difference(contributors_.members(contributors_.all()), contributors_.members(symbol.set),
                                std::back_inserter(missing));
    complain(op, fmt::format("incomplete sum: {} lacks the gradient of {}; it was left by {}",
                             name(extent, symbol.range), list(missing), words(plan_.op(symbol.writer))));
  }

  std::string name(const Extent& extent, const Range& range) const {
    return text(plan_, Slice{extent.buffer, extent.replica, range.offset, range.size});
  }

  std::string list(const std::vector<std::size_t>& contributors) const {
    constexpr std::size_t kMost = 4;
    std::string out;
    for (std::size_t i = 0; i < std::min(kMost, contributors.size()); ++i) {
      const Gpu& gpu = gpus_[contributors[i]];
      out += fmt::format("{}GPU {} of machine {}", i == 0 ? "" : ", ", gpu.index, gpu.machine);
    }
    if (contributors.size() > kMost) out += fmt::format(" and {} more", contributors.size() - kMost);
    return out;
  }

  Symbols& symbols_of(const Extent& extent) {
    return memory_[extent.buffer.index()][static_cast<std::size_t>(extent.replica)];
  }

  const Plan& plan_;
  std::vector<Gpu> gpus_;
  std::vector<std::size_t> first_gpu_;  // by machine
  Contributors contributors_;
  std::vector<std::vector<Symbols>> memory_;  // by buffer, by replica
  std::vector<bool> reduced_;                 // by all-reduce
  Bytes right_;
  std::optional<bool> updated_;  // whether the forwards so far found updated parameters
  std::optional<Error> error_;
  // Working memory of one op; members only to reuse their memory.
  std::vector<Move> moves_;
  std::vector<Symbol> from_;
  std::vector<Symbol> into_;
  std::vector<Symbol> total_;
};

}  // namespace

Result<Bytes> summed(const Plan& plan, const Order& order) { return Run(plan)(order); }

}  // namespace weir
