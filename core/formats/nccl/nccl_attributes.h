// Attributes of NCCL's elements, and what its files leave out.
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

/// What a user says instead of NCCL's files.
struct Unsaid {
  std::optional<BytesPerSecond> nic_rate;     // of NICs without a speed
  std::optional<BytesPerSecond> nvlink_rate;  // of each GPU to a switch, whatever NVLink the file has
  std::optional<BytesPerSecond> memory_rate;  // of each NUMA node
  std::optional<BytesPerSecond> sum_rate;     // of each NUMA node
  std::optional<Duration> latency;            // from NIC to NIC
};

/// Of the network, where nobody tells it.
inline constexpr Duration kUsualLatency(5000);

/// What one line of a topology may stand for.
inline constexpr int kMostAlike = 128;

/// Adds one GPU or NIC: to the line of its neighbour if the two are alike.
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

/// The attribute's text; empty if there is none.
std::string_view text_of(const XmlElement& element, std::string_view attribute);

struct Whole {
  std::int64_t otherwise = 0;  // where the attribute is missing or empty
  std::int64_t least = 0;
  std::int64_t most = 0;
};

/// The attribute as a number, decimal or 0x...; one that is none, or beyond the limits, is wrong.
std::int64_t number_of(const XmlElement& element, std::string_view attribute, const Whole& whole,
                       Remarks& remarks);

/// Bus ids as NCCL compares them: hexadecimal digits alone, small ones, without leading zeros.
std::string plain_bus_id(std::string_view id);

/// What a PCI device is, as Linux and NCCL write it: "0x1000".
struct PciTexts {
  std::string_view vendor;
  std::string_view device;
  std::string_view subsystem_vendor;
  std::string_view subsystem_device;
};

/// Broadcom's switches of PCIe 4 and 5 show as two levels though they are one. NCCL joins the two, and knows
/// them by what they say they are: the generation, 0 if it is none of them.
enum class SwitchHalf { kUpper, kLower };
int broadcom_generation(const PciTexts& switch_port, SwitchHalf half);

}  // namespace weir::nccl
