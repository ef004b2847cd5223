#include "core/cluster/topology_file.h"

#include "core/cluster/topology_check.h"
#include "core/cluster/topology_fields.h"
#include "core/document/complaints.h"
#include "core/document/file_kind.h"
#include "core/document/read_fields.h"
#include "core/document/schema.h"
#include "core/document/write_fields.h"

namespace weir {

Result<Topology> read_topology(const std::string& file) {
  const auto document = read_document(file);
  if (!document) return tl::unexpected(document.error());
  return read_topology(*document);
}

Result<Topology> read_topology(const Value& value, const std::string& path) {
  if (const auto kind = expect(FileKind::kTopology, value, path); !kind) return tl::unexpected(kind.error());
  auto topology = read_fields<Topology>(value, path);
  if (!topology) return topology;
  Complaints complaints;
  TopologyCheck(*topology, value, path, complaints).run();
  if (!complaints.empty()) return tl::unexpected(complaints.error());
  return topology;
}

Result<void> check_topology(const Topology& topology) {
  Complaints complaints;
  TopologyCheck(topology, Value(), "", complaints).run();
  if (!complaints.empty()) return tl::unexpected(complaints.error());
  return {};
}

nlohmann::ordered_json write_topology(const Topology& topology) { return write_fields(topology); }

std::string topology_schema() { return schema_text<Topology>("A Weir topology"); }

}  // namespace weir
