#include "studies/real/hosts.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

namespace weir {

namespace {

constexpr std::string_view kExpected = "expected a line for each machine with its host's name and address";

}  // namespace

Result<std::vector<Host>> read_hosts(const std::string& file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored))
    return failure(fmt::format("{}: this is a folder; {}", file, kExpected));
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
      return failure(fmt::format("{}:{}: '{}' is not the name of a host", file, number, host.name));
    hosts.push_back(std::move(host));
  }
  if (hosts.empty()) return failure(fmt::format("{}: the file lists no hosts; {}", file, kExpected));
  return hosts;
}

}  // namespace weir
