#include "tests/core/cluster/links.h"

#include "core/cluster/topology_file.h"
#include "tests/catch.h"

namespace weir {
namespace {

Topology valid(const Result<Topology>& topology) {
  if (!topology) FAIL(topology.error().text);
  return *topology;
}

}  // namespace

Topology topology_of(const std::string& text) {
  return valid(read_topology(parse_document(text, "test.json").value()));
}

Cluster cluster_of(const std::string& text) { return Cluster(topology_of(text)); }

Topology shipped_topology(const std::string& name) {
  return valid(read_topology(std::string(WEIR_SOURCE_DIR) + "/topologies/" + name + ".json"));
}

std::string names(const Cluster& cluster, const std::vector<LinkId>& links) {
  std::string text;
  for (const LinkId link : links) text += (text.empty() ? "" : " ") + cluster.link(link).name;
  return text;
}

}  // namespace weir
