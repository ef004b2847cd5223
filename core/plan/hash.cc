#include "core/plan/hash.h"

#include "core/plan/print.h"

namespace weir {

std::string plan_hash(const Plan& plan) {
  std::uint64_t value = 0xcbf29ce484222325ULL;  // FNV-1a
  for (const char c : text(plan)) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return fmt::format("{:016x}", value);
}

}  // namespace weir
