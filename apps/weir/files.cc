#include "apps/weir/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "backends/real/descriptor.h"

namespace weir {

std::string unfinished(const std::string& file) { return file + ".part"; }

Result<void> write_text(const std::string& file, const std::string& text) {
  const std::string unfinished = weir::unfinished(file);
  const auto failed = [&] {
    std::string why = fmt::format("{}: cannot be written: {}", file, std::strerror(errno));
    std::error_code ignored;
    std::filesystem::remove(unfinished, ignored);
    return failure(std::move(why));
  };
  std::FILE* stream = std::fopen(unfinished.c_str(), "wb");
  if (stream == nullptr) return failed();
  const bool written = std::fwrite(text.data(), 1, text.size(), stream) == text.size();
  const int why = errno;  // of what went wrong first
  const bool closed = std::fclose(stream) == 0;
  if (!written) errno = why;
  if (!written || !closed || std::rename(unfinished.c_str(), file.c_str()) != 0) return failed();
  return {};
}

Result<void> write_secret(const std::string& file, const std::string& text) {
  const std::string aside = unfinished(file);
  ::unlink(aside.c_str());
  {
    const real::Descriptor written(::open(aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (written.valid() &&
        ::write(written.number(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
        std::rename(aside.c_str(), file.c_str()) == 0) {
      return {};
    }
  }
  std::string why = fmt::format("cannot write {}: {}", file, std::strerror(errno));
  ::unlink(aside.c_str());
  return failure(std::move(why));
}

}  // namespace weir
