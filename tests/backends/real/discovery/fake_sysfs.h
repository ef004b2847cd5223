// A folder that replaces /sys in a test.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/catch.h"

namespace weir::real {

/// A resource: its destructor removes the folder.
class FakeSysfs {
 public:
  FakeSysfs() {
    std::string name = (std::filesystem::temp_directory_path() / "weir-sysfs-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    root_ = name;
  }
  ~FakeSysfs() { std::filesystem::remove_all(root_); }
  FakeSysfs(const FakeSysfs&) = delete;
  FakeSysfs& operator=(const FakeSysfs&) = delete;

  std::string root() const { return root_.string(); }

  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text << "\n";
  }
  void link(const std::string& path, const std::string& target) const {
    std::filesystem::create_directories(root_ / target);
    std::filesystem::create_directories((root_ / path).parent_path());
    std::filesystem::create_directory_symlink(root_ / target, root_ / path);
  }
  void pci(const std::string& id, const std::string& speed, const std::string& width) const {
    write("bus/pci/devices/" + id + "/max_link_speed", speed);
    write("bus/pci/devices/" + id + "/max_link_width", width);
  }
  void net(const std::string& name, const std::string& state, const std::string& speed) const {
    write("class/net/" + name + "/operstate", state);
    write("class/net/" + name + "/speed", speed);
    write("class/net/" + name + "/mtu", "9000");
  }

 private:
  std::filesystem::path root_;
};

}  // namespace weir::real
