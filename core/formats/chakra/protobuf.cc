#include "core/formats/chakra/protobuf.h"

#include <fmt/format.h>

namespace weir::protobuf {

Result<std::uint64_t> Reader::varint() {
  std::uint64_t value = 0;
  for (int i = 0; i < kLongestVarint; ++i) {
    if (rest_.empty()) return failure("a number is cut short");
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << (7 * i);
    if ((byte & 0x80) == 0) return value;
  }
  return failure(fmt::format("a number is longer than {} bytes", kLongestVarint));
}

Result<std::string_view> Reader::take(std::uint64_t size) {
  if (size > rest_.size()) {
    return failure(fmt::format("a field of {} bytes is cut short: only {} exist", size, rest_.size()));
  }
  const std::string_view taken = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return taken;
}

Result<std::optional<Field>> Reader::next() {
  if (rest_.empty()) return std::optional<Field>();
  const auto key = varint();
  if (!key) return tl::unexpected(key.error());
  Field field;
  field.number = static_cast<std::uint32_t>(*key >> 3);
  field.wire = static_cast<Wire>(*key & 7);
  if (field.number == 0 || *key >> 32 != 0)
    return failure(fmt::format("{} is not a valid field number", *key >> 3));
  if (field.wire == Wire::kVarint || field.wire == Wire::kBytes) {
    const auto number = varint();
    if (!number) return tl::unexpected(number.error());
    field.value = *number;
  }
  const bool fixed = field.wire == Wire::kFixed64 || field.wire == Wire::kFixed32;
  if (!fixed && field.wire != Wire::kVarint && field.wire != Wire::kBytes) {
    return failure(
        fmt::format("field {} has the wire type {}, which does not exist", field.number, *key & 7));
  }
  if (field.wire == Wire::kVarint) return std::optional(field);
  const auto bytes = take(field.wire == Wire::kBytes ? field.value : field.wire == Wire::kFixed64 ? 8 : 4);
  if (!bytes) return tl::unexpected(bytes.error());
  field.bytes = *bytes;
  if (fixed) {
    for (std::size_t i = bytes->size(); i-- > 0;) {
      field.value = field.value << 8 | static_cast<unsigned char>((*bytes)[i]);
    }
  }
  return std::optional(field);
}

Result<void> append_varints(const Field& field, std::vector<std::uint64_t>& list) {
  if (field.wire == Wire::kVarint) {
    list.push_back(field.value);
    return {};
  }
  if (field.wire != Wire::kBytes)
    return failure(fmt::format("field {} does not hold whole numbers", field.number));
  // Packed numbers have no field numbers of their own.
  std::uint64_t value = 0;
  int bytes = 0;
  for (const char c : field.bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (bytes == kLongestVarint)
      return failure(fmt::format("a number is longer than {} bytes", kLongestVarint));
    value |= static_cast<std::uint64_t>(byte & 0x7f) << (7 * bytes++);
    if ((byte & 0x80) != 0) continue;
    list.push_back(value);
    value = 0;
    bytes = 0;
  }
  if (bytes > 0) return failure("a number is cut short");
  return {};
}

}  // namespace weir::protobuf
