// What the parts of a job need to know of this host, and secrets that it makes.
#pragma once

#include <string>

#include "backends/real/wire/meeting.h"
#include "core/base/hexadecimal.h"
#include "core/base/result.h"

namespace weir::real {

/// Tells apart what processes can share memory: the host, and the network namespace in it, as names of
/// sockets are known in one only.
std::string reach();

/// 32 random bytes.
Result<Token> make_token();
/// The token that hexadecimal() wrote.
Result<Token> token_from(const std::string& hexadecimal);

}  // namespace weir::real
