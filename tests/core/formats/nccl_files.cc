#include "tests/core/formats/nccl_files.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/catch.h"

namespace weir::test {

std::string data(const std::string& name) {
  return std::string(WEIR_SOURCE_DIR) + "/tests/core/formats/nccl/" + name + ".xml";
}

Imported imported(const NcclImport& what) {
  auto done = import_nccl(what);
  if (!done) FAIL(done.error().text);
  return *done;
}

Imported imported(const std::string& name) { return imported(NcclImport{.files = {data(name)}}); }

GroupSpec machine(const std::string& name) { return imported(name).topology.groups.at(0); }

Imported imported_text(const std::string& text) {
  const NcclFile file(text);
  return imported(NcclImport{.files = {file.name()}});
}

bool warns(const Imported& done, const std::string& text) {
  return std::any_of(done.warnings.begin(), done.warnings.end(),
                     [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

std::string system_of(const std::string& inside) {
  return "<system version=\"1\">\n<cpu numaid=\"0\" arch=\"x86_64\" vendor=\"AuthenticAMD\">\n" + inside +
         "\n</cpu>\n</system>\n";
}

std::string gpu_of(const std::string& id, const std::string& inside, const std::string& more) {
  return "<pci busid=\"" + id +
         "\" class=\"0x030200\" link_speed=\"16.0 GT/s PCIe\" link_width=\"16\"><gpu " + more + ">" + inside +
         "</gpu></pci>\n";
}

NcclFile::NcclFile(const std::string& text) {
  name_ = (std::filesystem::temp_directory_path() / "weir-nccl-XXXXXX").string();
  const int descriptor = mkstemp(name_.data());
  REQUIRE(descriptor >= 0);
  std::ofstream(name_) << text;
}

NcclFile::~NcclFile() { std::filesystem::remove(name_); }

}  // namespace weir::test
