#include "core/protocol/tensor_wait.h"

namespace weir {

// For a kept tensor, the wait is for others to declare it.
std::string waits_for(const MissingNote* answer, bool kept) {
  if (answer != nullptr && !answer->who.empty())
    return fmt::format("not {} by {}", kept ? "declared" : "handed over", answer->who);
  return kept ? "all ranks have declared it, but the CPU machines do not answer"
              : "all ranks have handed it over";
}

}  // namespace weir
