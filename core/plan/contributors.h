// Sets of contributors (the GPUs of a cluster, numbered) as small numbers. Equal sets have equal numbers, so
// that the symbolic run of a plan compares and unites them cheaply.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/base/ids.h"

namespace weir {

using SetId = Id<struct SetKind>;

class Contributors {
 public:
  explicit Contributors(std::size_t count) : count_(count) {}

  std::size_t count() const { return count_; }
  SetId only(std::size_t contributor);
  /// The set of all contributors.
  SetId all();
  /// The union of two sets, or nothing if they have a member in common.
  std::optional<SetId> united(SetId a, SetId b);

  /// The members in increasing order.
  std::vector<std::size_t> members(SetId set) const;

 private:
  using Bits = std::vector<std::uint64_t>;
  SetId id_of(Bits bits);

  std::size_t count_;
  std::vector<Bits> sets_;
  std::map<Bits, SetId> ids_;
  std::unordered_map<std::uint64_t, std::optional<SetId>>
      unions_;  // by the numbers of both sets; a cache, never iterated
};

}  // namespace weir
