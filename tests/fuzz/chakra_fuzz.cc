// Imports made-up or damaged Chakra execution traces. The result must be a trace that passes all checks, or
// an error that names the file.
#include "core/base/check.h"
#include "core/formats/chakra/chakra.h"
#include "core/workload/workload.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/memory_file.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weir;
  const fuzz::MemoryFile file(data, size);
  ChakraImport what;
  what.files = {file.name()};
  const auto imported = import_chakra(what);
  if (imported) {
    WEIR_CHECK(Workload(imported->trace).size() > Bytes(0));
    WEIR_CHECK(compute_time(imported->trace) >= Duration(0));
  } else {
    WEIR_CHECK(imported.error().text.starts_with(file.name()), imported.error().text);
  }
  return 0;
}
