// Reads a message in Protocol Buffers' wire format field by field. Callers skip fields that they do not know,
// so later versions of a format can add fields. Source: protobuf.dev/programming-guides/encoding.
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
  std::uint64_t value = 0;  // of a number, not decoded further
  std::string_view bytes;   // of kBytes; points into the message
};

/// Reads a message, which must outlive the reader, from its first field to its last.
class Reader {
 public:
  explicit Reader(std::string_view message) : rest_(message) {}

  /// The next field; none at the end. Fails if the message is cut short or malformed.
  Result<std::optional<Field>> next();

 private:
  Result<std::uint64_t> varint();
  Result<std::string_view> take(std::uint64_t size);

  std::string_view rest_;
};

/// Appends the numbers of a repeated field of varints to the list, whether packed or one by one.
Result<void> append_varints(const Field& field, std::vector<std::uint64_t>& list);

/// Decodes a sint32 or sint64.
constexpr std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

/// The length of the longest varint, in bytes.
inline constexpr int kLongestVarint = 10;

}  // namespace weir::protobuf
