// A file in memory, to fuzz code that reads files.
#pragma once

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "core/base/check.h"

namespace weir::fuzz {

/// The file exists as long as the object.
class MemoryFile {
 public:
  MemoryFile(const std::uint8_t* data, std::size_t size) : number_(::memfd_create("input", MFD_CLOEXEC)) {
    WEIR_CHECK(number_ >= 0);
    WEIR_CHECK(::write(number_, data, size) == static_cast<ssize_t>(size), size);
  }
  ~MemoryFile() { ::close(number_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string name() const { return fmt::format("/proc/self/fd/{}", number_); }

 private:
  int number_;
};

}  // namespace weir::fuzz
