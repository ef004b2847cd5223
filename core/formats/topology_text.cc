#include "core/formats/topology_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/cluster/topology_fields.h"
#include "core/cluster/topology_file.h"
#include "core/document/write_fields.h"

namespace weir {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kWidth = 110;

/// Removes the members that equal the defaults of T.
template <class T>
void drop_defaults(Json& object, std::initializer_list<std::string_view> kept = {}) {
  const Json defaults = write_fields(T{});
  Json rest = Json::object();
  for (const auto& [name, value] : object.items()) {
    const auto usual = defaults.find(name);
    const bool keep = std::find(kept.begin(), kept.end(), name) != kept.end();
    if (keep || usual == defaults.end() || *usual != value) rest[name] = value;
  }
  object = std::move(rest);
}

template <class T>
void drop_defaults_of_each(Json& group, const char* list, std::initializer_list<std::string_view> kept = {}) {
  if (!group.contains(list)) return;
  for (Json& one : group[list]) drop_defaults<T>(one, kept);
}

void append(std::string& text, const Json& json, std::size_t indent, std::size_t before) {
  const auto one_line = [](const Json& value) {
    // Spaces after commas and colons outside of strings; braces stay tight.
    std::string line;
    bool quoted = false;
    const std::string dumped = value.dump();
    for (std::size_t i = 0; i < dumped.size(); ++i) {
      line += dumped[i];
      if (dumped[i] == '\\')
        line += dumped[++i];
      else if (dumped[i] == '"')
        quoted = !quoted;
      else if (!quoted && (dumped[i] == ',' || dumped[i] == ':'))
        line += ' ';
    }
    return line;
  };
  const std::string line = one_line(json);
  const bool nested = json.is_object() && (json.contains("groups") || json.contains("numa"));
  if (!json.is_structured() || json.empty() || (!nested && before + line.size() <= kWidth)) {
    text += line;
    return;
  }
  text += json.is_object() ? '{' : '[';
  const std::string margin(indent + 2, ' ');
  bool first = true;
  for (const auto& [name, value] : json.items()) {
    text += first ? "\n" : ",\n";
    first = false;
    const std::string key = json.is_object() ? Json(name).dump() + ": " : "";
    text += margin + key;
    append(text, value, indent + 2, margin.size() + key.size() + 1);
  }
  text += '\n' + std::string(indent, ' ') + (json.is_object() ? '}' : ']');
}

}  // namespace

std::string topology_text(const Topology& topology) {
  Json json = write_topology(topology);
  for (Json& group : json["groups"]) {
    drop_defaults_of_each<NumaSpec>(group, "numa");
    drop_defaults_of_each<SocketSpec>(group, "sockets", {"between", "rate"});
    drop_defaults_of_each<SwitchSpec>(group, "switches", {"name", "at", "rate"});
    drop_defaults_of_each<GpuSpec>(group, "gpus", {"at", "rate"});
    drop_defaults_of_each<NicSpec>(group, "nics", {"at", "rate"});
    if (group.contains("nvlink")) {
      Json& nvlink = group["nvlink"];
      if (nvlink.contains("switch")) drop_defaults<NvlinkSwitchSpec>(nvlink["switch"], {"rate"});
      drop_defaults_of_each<NvlinkPairSpec>(nvlink, "pairs", {"between", "rate"});
      drop_defaults<NvlinkSpec>(nvlink);
    }
    drop_defaults<GroupSpec>(group, {"name", "count", "numa"});
  }
  drop_defaults<Topology>(json, {"name", "groups", "network"});
  std::string text;
  append(text, json, 0, 0);
  return text + "\n";
}

}  // namespace weir
