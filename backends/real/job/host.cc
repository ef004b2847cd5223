#include "backends/real/job/host.h"

#include <sys/random.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace weir::real {

namespace {

// Differs between hosts, and between two boots of one host.
std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

}  // namespace

std::string reach() {
  std::error_code none;
  return boot_id() + ' ' + std::filesystem::read_symlink("/proc/self/ns/net", none).string();
}

Result<Token> make_token() {
  Token token{};
  if (::getrandom(token.data(), token.size(), 0) != static_cast<ssize_t>(token.size())) {
    return failure("the system provides no random bytes for the job's token");
  }
  return token;
}

Result<Token> token_from(const std::string& hexadecimal) {
  Token token{};
  const auto bytes = from_hexadecimal(hexadecimal);
  if (!bytes) return failure("the token is not a hexadecimal number");
  if (bytes->size() != token.size()) return failure("the token has the wrong length");
  std::ranges::copy(*bytes, token.begin());
  return token;
}

}  // namespace weir::real
