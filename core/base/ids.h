// Numbers that name things. Each kind of thing has its own type, so that nobody passes the number of a
// machine where the number of an op belongs.
#pragma once

#include <fmt/format.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

namespace weir {

/// The position of a thing in the list that owns all things of its kind. `none()` names nothing.
template <class Kind>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(std::size_t value) : value_(static_cast<std::uint32_t>(value)) {}

  static constexpr Id none() { return Id(); }

  constexpr std::size_t index() const { return value_; }
  constexpr std::uint32_t value() const { return value_; }
  constexpr bool valid() const { return value_ != kNone; }

  friend constexpr auto operator<=>(Id, Id) = default;

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t value_ = kNone;
};

using MachineId = Id<struct MachineKind>;  // also names a node, since each node is one machine
using LinkId = Id<struct LinkKind_>;
using OpId = Id<struct OpKind_>;
using BufferId = Id<struct BufferKind>;
using MessageId = Id<struct MessageKind>;
using GroupId = Id<struct GroupKind>;
using AllReduceId = Id<struct AllReduceKind>;

}  // namespace weir

template <class Kind>
struct std::hash<weir::Id<Kind>> {
  std::size_t operator()(weir::Id<Kind> id) const noexcept { return id.value(); }
};

template <class Kind>
struct fmt::formatter<weir::Id<Kind>> : fmt::formatter<std::uint32_t> {
  template <class Context>
  auto format(weir::Id<Kind> id, Context& context) const {
    return fmt::formatter<std::uint32_t>::format(id.value(), context);
  }
};
