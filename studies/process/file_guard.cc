#include "studies/process/file_guard.h"

#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <system_error>

namespace weir {
namespace {

constexpr Duration kPatience = Duration(10'000'000'000);

void remove(const std::vector<std::string>& files) {
  for (const std::string& file : files) ::unlink(file.c_str());
}

}  // namespace

Result<std::unique_ptr<FileGuard>> FileGuard::make(std::vector<std::string> files) {
  for (std::string& file : files) {
    std::error_code failed;
    const auto whole = std::filesystem::absolute(file, failed);
    if (failed) return failure(file + ": " + failed.message());
    file = whole.string();
  }
  auto guard = real::stand_guard([&files] { remove(files); });
  if (!guard) return tl::unexpected(guard.error());
  return std::unique_ptr<FileGuard>(new FileGuard(std::move(files), std::move(*guard)));
}

FileGuard::~FileGuard() {
  remove(files_);
  // Not by closing the pipe, which a fork of this process may still hold.
  ::kill(guard_.process, SIGKILL);
  (void)real::relieve(guard_, kPatience);
}

}  // namespace weir
