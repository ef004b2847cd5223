// The hosts of a cluster, by machine.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"

namespace weir {

struct Host {
  std::string name;     // as the remote shell knows it
  std::string address;  // at which its peers find it
};

/// One host a line, by machine: its name, and its address if that is another; # begins a comment. Errors name
/// the file and the line.
Result<std::vector<Host>> read_hosts(const std::string& file);

}  // namespace weir
