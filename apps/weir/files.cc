#include "apps/weir/files.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

namespace weir {

Result<void> write_text(const std::string& file, const std::string& text) {
  const std::string unfinished = file + ".part";
  {
    std::ofstream stream(unfinished, std::ios::binary);
    stream << text;
    stream.flush();
    if (!stream) return failure(fmt::format("{}: cannot be written", unfinished));
  }
  std::error_code error;
  std::filesystem::rename(unfinished, file, error);
  if (error) return failure(fmt::format("{}: cannot be written: {}", file, error.message()));
  return {};
}

}  // namespace weir
