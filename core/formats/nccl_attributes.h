// Attributes of NCCL's elements, and what its files leave out.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

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

/// What one line of a topology may stand for.
inline constexpr int kMostAlike = 128;

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

}  // namespace weir::nccl
