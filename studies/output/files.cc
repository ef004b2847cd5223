#include "studies/output/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "backends/real/process/descriptor.h"

namespace weir {

namespace {

namespace fs = std::filesystem;

// Follows links from the file to the last name, whether or not that exists.
std::string end_of_links(const std::string& file) {
  constexpr int kMost = 40;  // the kernel's limit
  fs::path end = file;
  std::error_code ignored;
  for (int i = 0; i < kMost && fs::is_symlink(end, ignored); ++i)
    end = end.parent_path() / fs::read_symlink(end, ignored);
  return end.string();
}

// How a file is written. Devices and pipes are written into; other files are replaced. If a file is a link,
// its target is replaced, not the link.
struct Way {
  bool replaced = false;
  std::string target;
  std::string written_first;
};

Way way_to(const std::string& file) {
  std::error_code ignored;
  const fs::file_status kind = fs::status(file, ignored);
  if (exists(kind) && !is_regular_file(kind)) return {false, file, file};
  const std::string target = end_of_links(file);
  return {true, target, unfinished(target)};
}

std::string not_written(const std::string& file) {
  return fmt::format("{}: cannot be written: {}", file, std::strerror(errno));
}

}  // namespace

std::string unfinished(const std::string& file) { return file + ".part"; }

Result<void> check_writable(const std::string& file) {
  const Way way = way_to(file);
  std::error_code ignored;
  if (!way.replaced) {  // without opening it, which the reader of a pipe would notice
    const bool folder = fs::is_directory(file, ignored);
    if (!folder && ::access(file.c_str(), W_OK) == 0) return {};
    if (folder) errno = EISDIR;
    return failure(not_written(file));
  }
  const bool there = fs::exists(way.written_first, ignored);
  std::FILE* stream = std::fopen(way.written_first.c_str(), "ab");
  if (stream == nullptr) return failure(not_written(file));
  (void)std::fclose(stream);
  if (!there) fs::remove(way.written_first, ignored);
  return {};
}

Result<void> check_no_input(const std::string& file, const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    std::error_code ignored;
    if (fs::is_regular_file(file, ignored) && fs::equivalent(file, input, ignored))
      return failure(fmt::format("{}: this file is an input; choose another output", file));
  }
  return {};
}

Result<void> write_text(const std::string& file, const std::string& text) {
  const Way way = way_to(file);
  const auto failed = [&] {
    std::string why = not_written(file);
    std::error_code ignored;
    if (way.replaced) fs::remove(way.written_first, ignored);
    return failure(std::move(why));
  };
  std::FILE* stream = std::fopen(way.written_first.c_str(), "wb");
  if (stream == nullptr) return failed();
  const bool written = std::fwrite(text.data(), 1, text.size(), stream) == text.size();
  const int why = errno;  // of the first error
  const bool closed = std::fclose(stream) == 0;
  if (!written) errno = why;
  if (!written || !closed) return failed();
  if (way.replaced && std::rename(way.written_first.c_str(), way.target.c_str()) != 0) return failed();
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
