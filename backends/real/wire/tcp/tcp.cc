#include "backends/real/wire/tcp/tcp.h"

#include "backends/real/wire/tcp/tcp_mover.h"

namespace weir::real::tcp {
namespace {

class DataConnection final : public Medium {
 public:
  std::string_view wire() const override { return kName; }
};

}  // namespace

Result<void> available(const std::string& host) {
  const auto listener = listen_at({host, 0});
  if (!listener) return tl::unexpected(listener.error());
  return {};
}

Result<Refusals> join(std::vector<Channel>& channels, const Joining& /*joining*/, Use /*use*/) {
  for (Channel& channel : channels) {
    if (channel.medium == nullptr) channel.medium = std::make_unique<DataConnection>();
  }
  return Refusals();
}

std::unique_ptr<Mover> make_mover(Channel channel, const MoverContext& context) {
  return std::make_unique<TcpMover>(std::move(channel), context);
}

}  // namespace weir::real::tcp
