// The hosts of a cluster, by machine.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"

namespace weir {

struct Host {
  std::string name;                    // as the remote shell knows it
  std::vector<std::string> addresses;  // at which its peers find its NICs, or one for all
};

/// One host a line, by machine: its name, and its address if that is another, or one for each of its NICs;
/// # begins a comment. Errors name the file and the line.
Result<std::vector<Host>> read_hosts(const std::string& file);

}  // namespace weir
