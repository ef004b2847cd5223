// How studies report what users should know while something runs, wherever users read it.
#pragma once

#include <functional>
#include <string>

namespace weir {

/// Called with one line of text, without newline. If empty, nobody listens.
using Notice = std::function<void(const std::string& line)>;

inline void notify(const Notice& notice, const std::string& line) {
  if (notice) notice(line);
}

}  // namespace weir
