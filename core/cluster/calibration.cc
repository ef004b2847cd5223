#include "core/cluster/calibration.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/hash.h"
#include "core/cluster/topology_fields.h"
#include "core/cluster/topology_file.h"
#include "core/document/write_fields.h"

namespace weir {
namespace {

using Json = nlohmann::ordered_json;

// Keys that the shape leaves out: values that calibration may change, and values that affect no time.
constexpr std::string_view kNoShape[] = {
    "rate",   "peer_rate", "pcie",  "latency", "memory_rate", "sum_rate", "sum_rate_per_thread",
    "memory", "cores",     "speed", "uplink"};

void drop_values(Json& json) {
  for (const std::string_view name : kNoShape) {
    if (json.is_object()) json.erase(std::string(name));
  }
  for (Json& inner : json) {
    if (inner.is_structured()) drop_values(inner);
  }
}

std::string hash_of_shape(Json json) {
  drop_values(json);
  return hash_of(json.dump());
}

const Value* step(const Value& at, std::string_view name) {
  if (const Value* member = at.find(name)) return member;
  if (!at.is(Value::Kind::kArray)) return nullptr;
  std::size_t index = 0;
  for (const Value& element : at.elements()) {
    const Value* own = element.find("name");
    if (own != nullptr && own->is(Value::Kind::kString) && own->as_string() == name) return &element;
    if (std::to_string(index++) == name) return &element;
  }
  return nullptr;
}

}  // namespace

std::string shape(const GroupSpec& group) {
  Json json = write_fields(group);
  json.erase("count");
  json.erase("price");
  return hash_of_shape(std::move(json));
}

std::string shape(const NetworkSpec& network) { return hash_of_shape(write_fields(network)); }

const Value* value_at(const Value& written, std::string_view path) {
  const Value* at = &written;
  while (at != nullptr && !path.empty()) {
    const std::size_t end = std::min(path.find('.'), path.size());
    at = step(*at, path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return at;
}

Value written_values(const Topology& topology) {
  Topology bare = topology;
  bare.calibration.reset();
  return *parse_document(write_topology(bare).dump(), "");
}

Result<Topology> with_value(const Topology& topology, const std::string& path, const Value& value) {
  Value document = written_values(topology);
  const std::string parent = path.substr(0, path.rfind('.'));
  if (const Value* all = value_at(document, parent); all != nullptr && all->is(Value::Kind::kString)) {
    Value apart = Value::object();  // one rate for each element type
    apart.append("other", *all);
    if (const auto set = document.set(parent, std::move(apart)); !set) return tl::unexpected(set.error());
  }
  if (const auto set = document.set(path, value); !set) return tl::unexpected(set.error());
  auto changed = read_topology(document);
  if (changed) changed->calibration = topology.calibration;
  return changed;
}

}  // namespace weir
