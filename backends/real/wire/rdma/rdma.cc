#include "backends/real/wire/rdma/rdma.h"

#include "backends/real/wire/rdma/connection.h"
#include "backends/real/wire/rdma/rdma_mover.h"

namespace weir::real::rdma {

Result<void> available(const std::string& host) {
  const auto choice = choose(host, {}, 0);
  if (!choice) return tl::unexpected(choice.error());
  return {};
}

std::unique_ptr<Mover> make_mover(Channel channel, const MoverContext& context) {
  auto connection = connection_of(channel);
  WEIR_CHECK(connection, channel.medium->wire());
  return std::make_unique<RdmaMover>(std::move(channel), std::move(connection), context);
}

std::shared_ptr<Connection> connection_of(const Channel& channel) {
  if (channel.medium == nullptr || channel.medium->wire() != kName) return nullptr;
  return static_cast<const RemoteMemory&>(*channel.medium).connection();
}

std::shared_ptr<const Device> device_of(const Channel& channel) {
  const auto connection = connection_of(channel);
  return connection ? connection->regions->shared_device() : nullptr;
}

}  // namespace weir::real::rdma
