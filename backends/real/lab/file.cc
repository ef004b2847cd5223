#include "backends/real/lab/file.h"

#include <sys/stat.h>
#include <unistd.h>

namespace weir::real {

File& File::operator=(File&& other) noexcept {
  if (this != &other) {
    close();
    number_ = std::exchange(other.number_, -1);
  }
  return *this;
}

File::~File() { close(); }

void File::close() {
  if (number_ >= 0) ::close(std::exchange(number_, -1));
}

bool same_file(const File& one, const File& other) {
  struct stat first = {};
  struct stat second = {};
  return fstat(one.number(), &first) == 0 && fstat(other.number(), &second) == 0 &&
         first.st_ino == second.st_ino && first.st_dev == second.st_dev;
}

}  // namespace weir::real
