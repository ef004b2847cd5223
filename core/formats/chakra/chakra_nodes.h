// Reads the nodes of a Chakra execution trace (MLCommons). The file holds Protocol Buffers messages, each
// after its length. Source: schema/protobuf/et_def.proto of github.com/mlcommons/chakra.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/units.h"

namespace weir::chakra {

enum class NodeType : std::uint8_t {
  kInvalid,
  kMetadata,
  kLoad,
  kStore,
  kCompute,
  kSend,
  kReceive,
  kCollective,
  kStorage,
  kBatch,
  kCheckpoint,
};

/// Chakra's CollectiveCommType, in the same order.
enum class CollectiveType : std::uint8_t {
  kAllReduce,
  kReduce,
  kAllGather,
  kGather,
  kScatter,
  kBroadcast,
  kAllToAll,
  kReduceScatter,
  kReduceScatterBlock,
  kBarrier,
};
std::string_view name(CollectiveType type);

struct Node {
  std::uint64_t id = 0;
  std::string name;
  NodeType type = NodeType::kInvalid;
  std::vector<std::uint64_t> parents;  // control and data dependencies, in the file's order
  std::uint64_t start_us = 0;
  Duration duration;
  bool on_cpu = false;
  std::optional<CollectiveType> collective;
  Bytes size;         // of a communication; 0 if the file does not state it
  std::string group;  // pg_name
};

/// Reads the nodes in the order of the file, which may be compressed with gzip. Errors name the message and,
/// if it was read that far, the node.
Result<std::vector<Node>> read_nodes(const std::string& file);

}  // namespace weir::chakra
