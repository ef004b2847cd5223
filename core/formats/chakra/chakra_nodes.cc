#include "core/formats/chakra/chakra_nodes.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstring>

#include "core/document/spelling.h"
#include "core/formats/chakra/protobuf.h"
#include "core/formats/inflated.h"

namespace weir::chakra {
namespace {

using protobuf::Field;
using protobuf::Wire;

constexpr std::uint64_t kLargestMessage = std::uint64_t{64} << 20;
constexpr std::int64_t kLongestUs = 86'400'000'000;       // us: a day
constexpr std::size_t kMostNodes = 20'000'000;            // about 3 GB of memory
constexpr std::int64_t kMostBytes = 100'000'000'000'000;  // the limit for traces
constexpr std::uint64_t kLastType = static_cast<std::uint64_t>(NodeType::kCheckpoint);
constexpr std::array<std::string_view, 10> kCollectives = {
    "all-reduce", "reduce",         "all-gather",           "gather", "scatter", "broadcast",
    "all-to-all", "reduce-scatter", "reduce-scatter-block", "barrier"};

/// The parts of an attribute that Weir uses.
struct Attribute {
  std::string_view name;
  std::optional<std::int64_t> number;  // of any number type
  std::string_view text;
};

std::optional<std::int64_t> whole(double value) {
  if (!(std::abs(value) < 9e15)) return std::nullopt;
  return std::llround(value);
}

std::optional<std::int64_t> number_of(const Field& field) {
  // The numbers of fields in AttributeProto.
  enum : std::uint32_t {
    kDouble = 3,
    kFloat = 5,
    kSint32 = 15,
    kSint64 = 17,
    kFixed32 = 19,
    kFixed64 = 21,
    kSfixed32 = 23,
    kSfixed64 = 25
  };
  switch (field.number) {
    case kDouble: {
      double value = 0;
      std::memcpy(&value, &field.value, sizeof value);
      return whole(value);
    }
    case kFloat: {
      const auto bits = static_cast<std::uint32_t>(field.value);
      float value = 0;
      std::memcpy(&value, &bits, sizeof value);
      return whole(static_cast<double>(value));
    }
    case kSint32:
    case kSint64:
      return protobuf::unzigzag(field.value);
    case kSfixed32:
      return static_cast<std::int32_t>(field.value);
    case 7:   // int32
    case 9:   // int64
    case 11:  // uint32
    case 13:  // uint64
    case kFixed32:
    case kFixed64:
    case kSfixed64:
    case 27:  // bool
      return static_cast<std::int64_t>(field.value);
    default:
      return std::nullopt;
  }
}

Result<Attribute> attribute_of(std::string_view bytes) {
  Attribute attribute;
  protobuf::Reader reader(bytes);
  for (;;) {
    const auto field = reader.next();
    if (!field) return tl::unexpected(field.error());
    if (!*field) return attribute;
    const Field& one = **field;
    if (one.wire != Wire::kBytes) {
      attribute.number = number_of(one);
    } else if (one.number == 1) {
      attribute.name = one.bytes;
    } else if (one.number == 29 || one.number == 31) {  // string, bytes
      attribute.text = one.bytes;
    }
  }
}

Result<void> set_attribute(Node& node, const Attribute& attribute) {
  const auto number = [&]() -> Result<std::int64_t> {
    if (attribute.number) return *attribute.number;
    return failure(fmt::format("its {} is not a number", attribute.name));
  };
  if (attribute.name == "is_cpu_op") {
    node.on_cpu = attribute.number.value_or(0) != 0;
  } else if (attribute.name == "comm_type") {
    const auto type = number();
    if (!type) return tl::unexpected(type.error());
    if (*type < 0 || *type >= static_cast<std::int64_t>(kCollectives.size())) {
      return failure(
          fmt::format("its comm_type is {}; expected a collective, 0 to {}", *type, kCollectives.size() - 1));
    }
    node.collective = static_cast<CollectiveType>(*type);
  } else if (attribute.name == "comm_size") {
    const auto size = number();
    if (!size) return tl::unexpected(size.error());
    if (*size < 0 || *size > kMostBytes) {
      return failure(fmt::format("its comm_size is {}; expected 0 to {} bytes", *size, kMostBytes));
    }
    node.size = Bytes(*size);
  } else if (attribute.name == "pg_name") {
    node.group = attribute.number ? std::to_string(*attribute.number) : on_one_line(attribute.text);
  }
  return {};
}

Result<void> set_field(Node& node, const Field& field) {
  switch (field.number) {
    case 1:
      node.id = field.value;
      return {};
    case 2:
      node.name = on_one_line(field.bytes);
      return {};
    case 3:
      if (field.value > kLastType) {
        return failure(fmt::format("its type is {}; expected 1 to {}", field.value, kLastType));
      }
      node.type = static_cast<NodeType>(field.value);
      return {};
    case 4:
    case 5:
      return protobuf::append_varints(field, node.parents);
    case 6:
      node.start_us = field.value;
      return {};
    case 7:
      if (field.value > static_cast<std::uint64_t>(kLongestUs)) {
        return failure(fmt::format("it takes {} us, which is more than a day", field.value));
      }
      node.duration = Duration(static_cast<std::int64_t>(field.value) * 1000);
      return {};
    case 10: {
      const auto attribute = attribute_of(field.bytes);
      if (!attribute) return tl::unexpected(attribute.error());
      return set_attribute(node, *attribute);
    }
    default:
      return {};
  }
}

Result<Node> node_of(std::string_view message) {
  Node node;
  const auto named = [&](const std::string& text) {
    return failure(fmt::format("node {}{}: {}", node.id,
                               node.name.empty() ? "" : fmt::format(" ('{}')", node.name), text));
  };
  protobuf::Reader reader(message);
  for (;;) {
    const auto field = reader.next();
    if (!field) return named(field.error().text);
    if (!*field) break;
    if (const auto set = set_field(node, **field); !set) return named(set.error().text);
  }
  if (node.type == NodeType::kInvalid) return named("it has no type");
  return node;
}

/// Reads the messages from the file.
class Messages {
 public:
  explicit Messages(InflatedFile& file) : file_(file) {}

  /// The next message; none at the end of the file.
  Result<std::optional<std::string>> next() {
    if (!file_.more()) return ended();
    std::uint64_t size = 0;
    for (int i = 0;; ++i) {
      if (i == protobuf::kLongestVarint) return failure("its length has more than 10 bytes");
      if (!file_.more()) return failure(broken("its length is cut short"));
      const auto byte = static_cast<unsigned char>(file_.peek());
      file_.next();
      size |= static_cast<std::uint64_t>(byte & 0x7f) << (7 * i);
      if ((byte & 0x80) == 0) break;
    }
    if (size > kLargestMessage) {
      return failure(
          fmt::format("its length is {} bytes; at most {} MiB are allowed", size, kLargestMessage >> 20));
    }
    std::string message;
    while (message.size() < size) {
      if (!file_.more()) {
        return failure(
            broken(fmt::format("it is cut short: only {} of {} bytes exist", message.size(), size)));
      }
      message += file_.peek();
      file_.next();
    }
    return std::optional(std::move(message));
  }

 private:
  Result<std::optional<std::string>> ended() const {
    if (!file_.error().empty()) return failure(file_.error());
    return std::optional<std::string>();
  }
  std::string broken(const std::string& text) const { return file_.error().empty() ? text : file_.error(); }

  InflatedFile& file_;
};

}  // namespace

std::string_view name(CollectiveType type) { return kCollectives[static_cast<std::size_t>(type)]; }

Result<std::vector<Node>> read_nodes(const std::string& file) {
  InflatedFile bytes(file);
  if (const auto opened = bytes.open(); !opened) return tl::unexpected(opened.error());
  // A message may begin like this too, so this matters only after an error.
  const bool like_json = bytes.more() && (bytes.peek() == '{' || bytes.peek() == '[');
  Messages messages(bytes);
  std::vector<Node> nodes;
  for (std::size_t count = 0;; ++count) {
    const auto message = messages.next();
    const auto wrong = [&](const std::string& text) {
      if (!like_json) return failure(fmt::format("{}: message {}: {}", file, count + 1, text));
      return failure(fmt::format(
          "{}: this looks like JSON; expected a Chakra execution trace, which is protobuf (.et). "
          "Import recordings of PyTorch's profiler with weir import kineto. A file with 'layers' is "
          "already a Weir trace",
          file));
    };
    if (!message) return wrong(message.error().text);
    if (!*message) break;
    if (count > kMostNodes) return wrong(fmt::format("there are more than {} nodes", kMostNodes));
    if (count == 0) continue;  // GlobalMetadata, which is not needed here
    auto node = node_of(**message);
    if (!node) return wrong(node.error().text);
    nodes.push_back(std::move(*node));
  }
  if (nodes.empty())
    return failure(fmt::format("{}: there are no nodes; this is not a Chakra execution trace", file));
  return nodes;
}

}  // namespace weir::chakra
