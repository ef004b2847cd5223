#include "backends/real/process/program.h"

#include <system_error>

namespace weir::real {

std::filesystem::path program_path() {
  std::error_code unknown;
  return std::filesystem::read_symlink("/proc/self/exe", unknown);
}

}  // namespace weir::real
