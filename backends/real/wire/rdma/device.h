// One port of an RDMA device, and memory that it may reach.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "backends/real/wire/rdma/choice.h"
#include "backends/real/wire/rdma/counts.h"
#include "backends/real/wire/rdma/verbs.h"
#include "core/base/result.h"

namespace weir::real::rdma {

/// Opened, with a protection domain. What is made of it ends before it. Any thread may ask it.
class Device {
 public:
  /// Fails, saying why, if the port does not work.
  static Result<std::shared_ptr<const Device>> open(const Choice& choice);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const Verbs& verbs() const { return *verbs_; }
  ibv_context* context() const { return context_; }
  ibv_pd* domain() const { return domain_; }
  std::uint8_t port() const { return port_; }
  const ibv_port_attr& port_attributes() const { return port_attributes_; }
  const ibv_device_attr& attributes() const { return attributes_; }
  bool is_ethernet() const { return port_attributes_.link_layer == IBV_LINK_LAYER_ETHERNET; }
  const ibv_gid_entry& gid() const { return gid_; }

  /// "mlx5_0 port 1".
  std::string name() const;

  /// Fails once the device has said that it works no more, or the system has it no more.
  Result<void> well() const;

  /// What has been done through it since it was opened here.
  Counts& counts() const { return counts_; }

 private:
  explicit Device(const Verbs& verbs) : verbs_(&verbs) {}
  Result<void> make(const Choice& choice);
  /// The number of what the system says of the device; none if it says nothing.
  std::optional<std::uint64_t> entry() const;

  const Verbs* verbs_;
  ibv_context* context_ = nullptr;
  ibv_pd* domain_ = nullptr;
  std::uint8_t port_ = 0;
  ibv_port_attr port_attributes_{};
  ibv_device_attr attributes_{};
  ibv_gid_entry gid_{};
  std::optional<std::uint64_t> entry_;
  mutable std::atomic<bool> lost_ = false;
  mutable Counts counts_;
};

}  // namespace weir::real::rdma
