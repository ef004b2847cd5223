#include "core/plan/contributors.h"

#include <utility>

#include "core/base/check.h"

namespace weir {
namespace {

constexpr std::size_t kWordOfSet = 64;

}  // namespace

SetId Contributors::id_of(Bits bits) {
  const auto [place, fresh] = ids_.try_emplace(std::move(bits), SetId(sets_.size()));
  if (fresh) sets_.push_back(place->first);
  return place->second;
}

SetId Contributors::only(std::size_t contributor) {
  WEIR_CHECK(contributor < count_, contributor, count_);
  Bits bits((count_ + kWordOfSet - 1) / kWordOfSet);
  bits[contributor / kWordOfSet] = std::uint64_t{1} << (contributor % kWordOfSet);
  return id_of(std::move(bits));
}

SetId Contributors::all() {
  Bits bits((count_ + kWordOfSet - 1) / kWordOfSet);
  for (std::size_t i = 0; i < count_; ++i) bits[i / kWordOfSet] |= std::uint64_t{1} << (i % kWordOfSet);
  return id_of(std::move(bits));
}

std::optional<SetId> Contributors::united(SetId a, SetId b) {
  const std::uint64_t key = std::uint64_t{a.value()} << 32 | b.value();
  if (const auto known = unions_.find(key); known != unions_.end()) return known->second;
  const Bits& left = sets_[a.index()];
  const Bits& right = sets_[b.index()];
  Bits bits(left.size());
  bool common = false;
  for (std::size_t i = 0; i < bits.size(); ++i) {
    common = common || (left[i] & right[i]) != 0;
    bits[i] = left[i] | right[i];
  }
  const std::optional<SetId> united = common ? std::nullopt : std::optional(id_of(std::move(bits)));
  unions_.emplace(key, united);
  return united;
}

std::vector<std::size_t> Contributors::members(SetId set) const {
  std::vector<std::size_t> list;
  for (std::size_t i = 0; i < count_; ++i) {
    if ((sets_[set.index()][i / kWordOfSet] >> (i % kWordOfSet) & 1U) != 0) list.push_back(i);
  }
  return list;
}

}  // namespace weir
