// What a job needs to know about this host, and secrets that it makes.
#pragma once

#include <string>

#include "backends/real/wire/meeting.h"
#include "core/base/hexadecimal.h"
#include "core/base/result.h"

namespace weir::real {

/// Processes with the same text can share memory. It names the host and the network namespace, because socket
/// names are known within one namespace only.
std::string reach();

/// 32 random bytes.
Result<Token> make_token();
/// Reads a token that hexadecimal() wrote.
Result<Token> token_from(const std::string& hexadecimal);

}  // namespace weir::real
