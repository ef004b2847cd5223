// Protocol Buffers' wire format, as far as reading a message field by field needs it: fields that nobody asks
// for are passed over, whatever later versions of a format put there. Source:
// protobuf.dev/programming-guides/encoding.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace weir::protobuf {

enum class Wire : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct Field {
  std::uint32_t number = 0;
  Wire wire = Wire::kVarint;
  std::uint64_t value = 0;  // of a number, as it stands there
  std::string_view bytes;   // of kBytes; lies in the message
};

/// Reads a message, which outlives it, from its first field to its last.
class Reader {
 public:
  explicit Reader(std::string_view message) : rest_(message) {}

  /// The next field; none at the end. Fails where the message is cut short, or is none.
  Result<std::optional<Field>> next();

 private:
  Result<std::uint64_t> varint();
  Result<std::string_view> take(std::uint64_t size);

  std::string_view rest_;
};

/// The numbers of a repeated field that holds varints, packed or one by one, are added to the list.
Result<void> append_varints(const Field& field, std::vector<std::uint64_t>& list);

/// What a sint32 or sint64 stands for.
constexpr std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

/// A varint's longest form, in bytes.
inline constexpr int kLongestVarint = 10;

}  // namespace weir::protobuf
