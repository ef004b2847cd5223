// A folder for the files of one test.
#pragma once

#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp is POSIX

#include <filesystem>
#include <fstream>
#include <string>

#include "core/base/check.h"

namespace weir {

/// A private folder, empty at first, removed with the object.
class Folder {
 public:
  Folder() {
    std::string path = (std::filesystem::temp_directory_path() / "weir-test-XXXXXX").string();
    WEIR_CHECK(mkdtemp(path.data()) != nullptr, path);
    path_ = path;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }

  std::string path() const { return path_.string(); }
  /// Writes the file, and returns its path.
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return (path_ / name).string();
  }

 private:
  std::filesystem::path path_;
};

}  // namespace weir
