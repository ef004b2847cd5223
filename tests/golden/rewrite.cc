// weir_rewrite_goldens: writes the golden table as it is now, for a change of results that is meant and
// explained.
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
