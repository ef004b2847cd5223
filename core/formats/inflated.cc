#include "core/formats/inflated.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>

namespace weir {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 18;

gzFile zlib(void* file) { return static_cast<gzFile>(file); }

}  // namespace

InflatedFile::InflatedFile(std::string name) : name_(std::move(name)), piece_(kPiece) {}

InflatedFile::~InflatedFile() {
  if (file_ != nullptr) gzclose(zlib(file_));
}

Result<void> InflatedFile::open() {
  // open() would wait for the writer of a pipe.
  std::error_code ignored;
  const bool there = std::filesystem::exists(name_, ignored);
  if (there && !std::filesystem::is_regular_file(name_, ignored)) {
    return failure(
        fmt::format("{}: this is not a regular file; pipes and folders cannot be imported", name_));
  }
  const int number = there ? ::open(name_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
  if (number < 0) return failure(fmt::format("{}: there is no such file to read", name_));
  file_ = gzdopen(number, "rb");
  if (file_ == nullptr) {
    ::close(number);
    return failure(fmt::format("{}: there is not enough memory to read it", name_));
  }
  gzbuffer(zlib(file_), kPiece);
  return {};
}

bool InflatedFile::fill() {
  if (!error_.empty() || file_ == nullptr) return false;
  before_ += end_;
  at_ = end_ = 0;
  if (before_ > kMost) {
    error_ = fmt::format("it is larger than {} GiB", kMost >> 30);
    return false;
  }
  const int got = gzread(zlib(file_), piece_.data(), static_cast<unsigned>(piece_.size()));
  int code = Z_OK;
  const char* text = gzerror(zlib(file_), &code);
  if (got < 0 || (got == 0 && code != Z_OK && code != Z_STREAM_END)) {
    error_ = code == Z_BUF_ERROR ? "it ends inside compressed data"
                                 : fmt::format("it cannot be decompressed: {}", text);
    return false;
  }
  end_ = static_cast<std::size_t>(got);
  return got > 0;
}

}  // namespace weir
