#include "studies/bench/copies.h"

namespace weir {

Result<std::vector<CopyRow>> copy_rates(int gpus, const std::vector<Bytes>& parts, int repetitions,
                                        const std::function<void(const CopyRow& row)>& measured) {
  std::vector<CopyRow> rows;
  for (int device = 0; device < gpus; ++device) {
    for (const Bytes part : parts) {
      real::CopySettings settings;
      settings.device = device;
      settings.part = part;
      settings.repetitions = repetitions;
      const auto rate = real::measure_copies(settings);
      if (!rate) return tl::unexpected(rate.error());
      rows.push_back({device, part, *rate});
      if (measured) measured(rows.back());
    }
  }
  return rows;
}

}  // namespace weir
