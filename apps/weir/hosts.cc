#include "apps/weir/hosts.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

namespace weir {

Result<std::vector<Host>> read_hosts(const std::string& file) {
  std::ifstream stream(file);
  if (!stream) return failure(file + ": there is no such file, or it cannot be read");
  std::vector<Host> hosts;
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    Host host;
    if (!(words >> host.name)) continue;
    for (std::string address; words >> address;) host.addresses.push_back(address);
    if (host.addresses.empty()) host.addresses = {host.name};
    if (host.name.starts_with('-'))
      return failure(fmt::format("{}:{}: '{}' is no host", file, number, host.name));
    hosts.push_back(std::move(host));
  }
  return hosts;
}

}  // namespace weir
