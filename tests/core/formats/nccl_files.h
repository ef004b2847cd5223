// NCCL's topology files and their imports, for tests.
#pragma once

#include <string>

#include "core/cluster/topology.h"
#include "core/formats/nccl/nccl_topology.h"

namespace weir::test {

constexpr Rates both(BytesPerSecond rate) { return {rate, rate}; }

/// The file in tests/core/formats/nccl.
std::string data(const std::string& name);

Imported imported(const NcclImport& what);
Imported imported(const std::string& name);
/// The first group.
GroupSpec machine(const std::string& name);
Imported imported_text(const std::string& text);
bool warns(const Imported& done, const std::string& text);

/// Elements of a file: a system of one CPU, and a GPU on PCIe.
std::string system_of(const std::string& inside);
std::string gpu_of(const std::string& id, const std::string& inside, const std::string& more = "sm=\"90\"");

/// A file that a test writes, removed at destruction.
class NcclFile {
 public:
  explicit NcclFile(const std::string& text);
  ~NcclFile();
  NcclFile(const NcclFile&) = delete;
  NcclFile& operator=(const NcclFile&) = delete;
  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

}  // namespace weir::test
