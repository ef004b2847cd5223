// TCP as a wire (wire.h): messages move over the data connection of their channel. Any two machines of a job
// can use it.
#pragma once

#include "backends/real/wire/wire.h"

namespace weir::real::tcp {

constexpr std::string_view kName = "tcp";
constexpr WireTraits kTraits{.paced = true, .cuts_messages = true};

Result<void> available(const std::string& host);
/// Takes all channels that no other wire has taken: they have what TCP needs.
Result<Refusals> join(std::vector<Channel>& channels, const Joining& joining, Use use);
std::unique_ptr<Mover> make_mover(Channel channel, const MoverContext& context);

}  // namespace weir::real::tcp
