// weir_rewrite_goldens: rewrites the golden table with the current results. Use it when results change on
// purpose and the change is explained.
#include <cstdio>
#include <fstream>

#include "tests/golden/table.h"

int main() {
  std::ofstream stream(weir::golden::file());
  stream << weir::golden::table();
  stream.close();
  if (!stream) {
    std::fprintf(stderr, "cannot write %s\n", weir::golden::file().c_str());
    return 1;
  }
  std::printf("wrote %s\n", weir::golden::file().c_str());
  return 0;
}
