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
    std::string more;
    if (!(words >> host.name)) continue;
    if (!(words >> host.address)) host.address = host.name;
    if (words >> more) {
      return failure(fmt::format("{}:{}: expected a host and perhaps its address, and '{}' follows", file,
                                 number, more));
    }
    if (host.name.starts_with('-'))
      return failure(fmt::format("{}:{}: '{}' is no host", file, number, host.name));
    hosts.push_back(std::move(host));
  }
  return hosts;
}

}  // namespace weir
