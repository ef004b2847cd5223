#include "backends/real/job/host.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <filesystem>
#include <fstream>
#include <system_error>

namespace weir::real {

namespace {

// Tells hosts apart, and a host from itself after it was started anew.
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
    return failure("the system gives no random bytes for the job's token");
  }
  return token;
}

std::string hexadecimal(const Token& token) {
  std::string text;
  for (const std::byte byte : token) text += fmt::format("{:02x}", std::to_integer<int>(byte));
  return text;
}

Result<Token> token_from(const std::string& hexadecimal) {
  Token token{};
  const auto digit = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  if (hexadecimal.size() != 2 * token.size()) return failure("the token has another length");
  for (std::size_t i = 0; i < token.size(); ++i) {
    const int high = digit(hexadecimal[2 * i]);
    const int low = digit(hexadecimal[2 * i + 1]);
    if (high < 0 || low < 0) return failure("the token is no hexadecimal number");
    token[i] = static_cast<std::byte>(high * 16 + low);
  }
  return token;
}

}  // namespace weir::real
