// The hosts of a cluster, by machine.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"

namespace weir {

struct Host {
  std::string name;                    // as the remote shell knows it
  std::vector<std::string> addresses;  // where its peers reach its NICs, or one address for all
};

/// Reads one host per line, in order of machine: its name and, if they differ from that, its address or one
/// address for each NIC. # begins a comment. Errors name file and line.
Result<std::vector<Host>> read_hosts(const std::string& file);

}  // namespace weir
