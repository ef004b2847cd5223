// Options that all commands that make topologies share: values that the source does not state, and where the
// topology goes.
#pragma once

#include <string>

#include "apps/weir/text/exit_status.h"
#include "core/base/result.h"
#include "core/formats/nccl/nccl_attributes.h"
#include "core/formats/nccl/nccl_topology.h"

namespace CLI {
class App;
}

namespace weir {

struct TopologyOptions {
  std::string out;
  std::string name;
  int count = 1;
  std::string nic_rate;
  std::string nvlink_rate;
  std::string memory_rate;
  std::string sum_rate;
  std::string latency;

  /// The rates and the latency. If an option's value is invalid, the error names the option.
  Result<nccl::UserValues> user_values() const;
};

/// `named` and `counted` are the help texts of --name and --count. The options outlive the command.
void add_topology_options(CLI::App& command, TopologyOptions& options, const std::string& named,
                          const std::string& counted);

/// Writes the topology to its file or to standard output, and its warnings to the error stream.
Result<ExitStatus> deliver(const char* command, const Imported& made, const std::string& out);

}  // namespace weir
