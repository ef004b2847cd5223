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

Result<void> write_text(const std::string& file, const std::string& text) {
  const std::string unfinished = file + ".part";
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
  ::unlink(file.c_str());
  const real::Descriptor written(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!written.valid() ||
      ::write(written.number(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return failure(fmt::format("cannot write {}: {}", file, std::strerror(errno)));
  }
  return {};
}

}  // namespace weir
