#include "core/protocol/tensor_table.h"

#include <fmt/ranges.h>

#include <numeric>

namespace weir {

std::vector<int> TensorTable::ranks_of(const TensorNote& tensor) const {
  if (!tensor.ranks.empty()) return tensor.ranks;
  std::vector<int> all(ranks_);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<int> TensorTable::ranks_of(const std::string& name) const {
  const Declared* const known = find(name);
  return ranks_of(known == nullptr ? TensorNote() : known->tensor);
}

const TensorTable::Declared* TensorTable::find(const std::string& name) const {
  const auto known = declared_.find(name);
  return known == declared_.end() ? nullptr : &known->second;
}

Result<std::vector<RefuseNote>> TensorTable::declare(int rank, const DeclareNote& note) {
  std::vector<RefuseNote> refusals;
  std::vector<std::string> batch;
  std::string wrong;  // what is wrong with one of them, in words
  const auto refuse_one = [&](const std::string& name, const std::string& why) {
    refusals.push_back(refuse(name, why));
    if (wrong.empty()) wrong = fmt::format("declared together with '{}', which was refused: {}", name, why);
  };
  for (const TensorNote& tensor : note.tensors) {
    const std::vector<int> ranks = ranks_of(tensor);
    if (!are_ranks(ranks, ranks_) || !takes_part({false, rank}, ranks))
      return failure(fmt::format("it declares a tensor of ranks {}", fmt::join(ranks, ", ")));
    const auto [known, fresh] = declared_.try_emplace(tensor.name);
    Declared& declared = known->second;
    if (fresh) {
      declared.tensor = tensor;
      declared.first = rank;
      for (const int one : ranks) declared.by[one] = false;
    }
    if (declared.refused) {  // the rank that declares it now has not been informed
      refuse_one(tensor.name, "ranks disagreed about it before");
      continue;
    }
    if (!alike(tensor, declared.tensor)) {
      refuse_one(tensor.name, fmt::format("rank {} has {}, but rank {} has {}", declared.first,
                                          text(declared.tensor), rank, text(tensor)));
      continue;
    }
    declared.by[rank] = true;
    if (rank == ranks.front()) {
      declared.tensor.priority = tensor.priority;
      batch.push_back(tensor.name);
    }
  }
  if (!batch.empty()) batches_.push_back(std::move(batch));
  // A rank stops at a refusal. So the rest of this declaration is refused too, and nobody waits for it.
  for (const TensorNote& tensor : note.tensors) {
    if (!wrong.empty() && !declared_[tensor.name].refused) refusals.push_back(refuse(tensor.name, wrong));
  }
  return refusals;
}

RefuseNote TensorTable::refuse(const std::string& name, const std::string& why) {
  declared_[name].refused = true;
  return {name, why};
}

// Groups tensors that all their ranks now know, to be opened; kept tensors form a group of their own for each
// rank.
void TensorTable::gather() {
  std::map<std::vector<int>, OpenNote> summed;  // by ranks
  OpenNote kept;
  std::erase_if(batches_, [&](const std::vector<std::string>& batch) {
    const bool whole = std::all_of(batch.begin(), batch.end(), [&](const std::string& name) {
      return declared_[name].refused || declared_[name].known_to_all();
    });
    for (const std::string& name : batch) {
      const TensorNote& tensor = declared_[name].tensor;
      if (whole && !declared_[name].refused)
        (tensor.kept ? kept : summed[tensor.ranks]).tensors.push_back(tensor);
    }
    return whole;
  });
  for (auto& [ranks, open] : summed) {
    open.ranks = ranks;
    to_open_.push_back(std::move(open));
  }
  for (std::size_t rank = 0; rank < ranks_ && !kept.tensors.empty(); ++rank) {
    kept.ranks = {static_cast<int>(rank)};
    to_open_.push_back(kept);
  }
}

std::optional<OpenNote> TensorTable::next() {
  if (to_open_.empty()) gather();
  if (to_open_.empty()) return std::nullopt;
  OpenNote open = std::move(to_open_.front());
  to_open_.pop_front();
  return open;
}

}  // namespace weir
