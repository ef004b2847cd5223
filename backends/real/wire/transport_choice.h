// What messages of a job may move through.
#pragma once

#include <array>
#include <cstdint>

#include "core/document/fields.h"

namespace weir::real {

enum class TransportChoice : std::uint8_t {
  kTcp,
  kSharedMemory,  // machines of one host; others TCP
  kRdma,
  kAuto,  // shared memory within a host, RDMA where both ends can, else TCP
};

inline auto enum_names(TransportChoice /*choice*/) {
  return std::array<Named<TransportChoice>, 4>{{{TransportChoice::kTcp, "tcp"},
                                                {TransportChoice::kSharedMemory, "shm"},
                                                {TransportChoice::kRdma, "rdma"},
                                                {TransportChoice::kAuto, "auto"}}};
}

inline bool shares_memory(TransportChoice choice) {
  return choice == TransportChoice::kSharedMemory || choice == TransportChoice::kAuto;
}

inline bool may_use_rdma(TransportChoice choice) {
  return choice == TransportChoice::kRdma || choice == TransportChoice::kAuto;
}

}  // namespace weir::real
