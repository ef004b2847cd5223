// Stands for the copy meter in a build without CUDA.
#include "backends/real/meters/copy_meter.h"

namespace weir::real {

Result<CopyRate> measure_copies(const CopySettings& /*settings*/) {
  return failure("this weir was built without CUDA");
}

}  // namespace weir::real
