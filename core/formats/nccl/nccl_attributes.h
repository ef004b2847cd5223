// Attributes of elements in NCCL's files, and values for what these files leave out.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/units.h"
#include "core/formats/remarks.h"
#include "core/formats/xml.h"

namespace weir::nccl {

/// Values from the user for what NCCL's files do not say.
struct UserValues {
  std::optional<BytesPerSecond> nic_rate;     // of NICs whose speed is missing or impossible
  std::optional<BytesPerSecond> nvlink_rate;  // of each GPU to a switch; overrides the file's NVLinks
  std::optional<BytesPerSecond> memory_rate;  // of each NUMA node
  std::optional<BytesPerSecond> sum_rate;     // of each NUMA node
  std::optional<Duration> latency;            // from NIC to NIC
};

/// The latency of the network if neither the user nor the file states it.
inline constexpr Duration kUsualLatency(5000);

/// The largest 'count' of equal devices in a topology.
inline constexpr int kMostAlike = 128;

/// Adds one GPU or NIC. If it equals the last one in the list, raises that one's count.
template <class Spec>
void append_alike(std::vector<Spec>& list, Spec one) {
  one.count = 1;
  if (!list.empty() && list.back().count < kMostAlike) {
    one.count = list.back().count;
    if (one == list.back()) {
      ++list.back().count;
      return;
    }
    one.count = 1;
  }
  list.push_back(std::move(one));
}

/// The text of the attribute; empty if it is missing.
std::string_view text_of(const XmlElement& element, std::string_view attribute);

struct Whole {
  std::int64_t otherwise = 0;  // if the attribute is missing or empty
  std::int64_t least = 0;
  std::int64_t most = 0;
};

/// The attribute as a number, decimal or 0x... Reports an error if it is not a number or beyond the limits.
std::int64_t number_of(const XmlElement& element, std::string_view attribute, const Whole& whole,
                       Remarks& remarks);

/// The bus id as NCCL compares them: only hexadecimal digits, in lower case, without leading zeros.
std::string plain_bus_id(std::string_view id);

/// The ids of a PCI device as Linux and NCCL write them: "0x1000".
struct PciTexts {
  std::string_view vendor;
  std::string_view device;
  std::string_view subsystem_vendor;
  std::string_view subsystem_device;
};

/// Broadcom's switches of PCIe 4 and 5 appear as two levels of switches. NCCL joins the two and recognizes
/// them by their ids. Returns the PCIe generation; 0 if it is not such a switch.
enum class SwitchHalf { kUpper, kLower };
int broadcom_generation(const PciTexts& switch_port, SwitchHalf half);

}  // namespace weir::nccl
