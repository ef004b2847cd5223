#include "backends/real/session/settings.h"

#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <regex>

#include "backends/real/wire/wire.h"
#include "core/document/read_fields.h"

namespace weir::real {
namespace {

// In a document, numbers and booleans are JSON values. In the environment, they are text.
struct Source {
  std::string_view setting;
  std::array<const char*, 4> variables;
};

constexpr std::array kSources = {
    Source{"rank", {"WEIR_RANK", "RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"}},
    Source{"size", {"WEIR_SIZE", "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS"}},
    Source{"local_rank", {"WEIR_LOCAL_RANK", "LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"}},
    Source{"local_size", {"WEIR_LOCAL_SIZE", "LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", nullptr}},
    Source{"server", {"WEIR_SERVER", nullptr, nullptr, nullptr}},
    Source{"servers", {"WEIR_SERVERS", nullptr, nullptr, nullptr}},
    Source{"leader", {"WEIR_LEADER", nullptr, nullptr, nullptr}},
    Source{"secret", {"WEIR_SECRET", nullptr, nullptr, nullptr}},
    Source{"listen", {"WEIR_LISTEN", nullptr, nullptr, nullptr}},
    Source{"strategy", {"WEIR_STRATEGY", nullptr, nullptr, nullptr}},
    Source{"topology", {"WEIR_TOPOLOGY", nullptr, nullptr, nullptr}},
    Source{"settings", {"WEIR_SETTINGS", nullptr, nullptr, nullptr}},
    Source{"options", {"WEIR_OPTIONS", nullptr, nullptr, nullptr}},
    Source{"nic_rate", {"WEIR_NIC_RATE", nullptr, nullptr, nullptr}},
    Source{"patience", {"WEIR_PATIENCE", nullptr, nullptr, nullptr}},
    Source{"warn_after", {"WEIR_WARN_AFTER", nullptr, nullptr, nullptr}},
    Source{"threads", {"WEIR_THREADS", nullptr, nullptr, nullptr}},
    Source{"encrypt", {"WEIR_ENCRYPT", nullptr, nullptr, nullptr}},
    Source{"transport", {"WEIR_TRANSPORT", nullptr, nullptr, nullptr}},
};

using Json = nlohmann::ordered_json;

bool is_text(std::string_view setting) {
  constexpr std::array kTexts = {"leader",   "secret",  "listen",   "strategy", "topology",
                                 "settings", "options", "nic_rate", "transport"};
  return std::find(kTexts.begin(), kTexts.end(), setting) != kTexts.end();
}

// The variable's text as the JSON value that a document would have.
Result<Json> value_of(std::string_view setting, const std::string& variable, const std::string& text) {
  if (is_text(setting)) return Json(text);
  if (setting == "encrypt") {
    if (text == "0" || text == "false") return Json(false);
    if (text == "1" || text == "true") return Json(true);
    return failure(fmt::format("{}: expected 0 or 1, got '{}'", variable, text));
  }
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    return failure(fmt::format("{}: expected a number, got '{}'", variable, text));
  if (setting == "patience" || setting == "warn_after") return Json(number);
  if (number != static_cast<double>(static_cast<int>(number)))
    return failure(fmt::format("{}: expected a whole number, got '{}'", variable, text));
  return Json(static_cast<int>(number));
}

// How many tasks of a Slurm step run on this node. The variable lists the counts by node. Equal neighbours
// are merged, as in "2(x3),1".
Result<std::optional<int>> slurm_local_size(const Environment& environment) {
  std::string variable = "SLURM_STEP_TASKS_PER_NODE";
  auto counts = environment(variable);
  if (!counts) counts = environment(variable = "SLURM_TASKS_PER_NODE");
  const auto node = environment("SLURM_NODEID");
  if (!counts || !node) return std::nullopt;
  static const std::regex entries_of_hosts(R"((\d{1,6})(?:\(x(\d{1,6})\))?(?:,|$))");
  int left = 0;
  const auto [end, error] = std::from_chars(node->data(), node->data() + node->size(), left);
  bool well = error == std::errc() && end == node->data() + node->size() && left >= 0;
  std::smatch entry;
  for (auto at = counts->cbegin(); well && at != counts->cend(); at = entry[0].second) {
    well = std::regex_search(at, counts->cend(), entry, entries_of_hosts,
                             std::regex_constants::match_continuous);
    if (!well) break;
    left -= entry[2].matched ? std::stoi(entry[2]) : 1;
    if (left < 0) return std::stoi(entry[1]);
  }
  return failure(
      fmt::format("{}: expected the tasks of each node, such as 2(x3),1, including node {} "
                  "(SLURM_NODEID), got '{}'",
                  variable, *node, *counts));
}

}  // namespace

struct SessionText {
  SessionSettings settings;
  std::optional<int> rank;
  std::optional<int> server;
};

template <class Visitor>
void fields(Visitor& visitor, SessionText& text) {
  constexpr int kMost = 1'000'000;
  SessionSettings& settings = text.settings;
  visitor.optional("rank", text.rank, "which rank this is", within(0, kMost));
  visitor.optional("server", text.server, "which server this is", within(0, kMost));
  visitor.optional("size", settings.size, "how many ranks there are", within(1, kMost));
  visitor.optional("servers", settings.servers, "how many servers there are", within(0, kMost));
  visitor.optional("local_rank", settings.local_rank, "which rank of this host this is", within(0, kMost));
  visitor.optional("local_size", settings.local_size, "how many ranks this host has", within(1, kMost));
  visitor.optional("leader", settings.leader, "where rank 0 listens for the others: HOST:PORT");
  visitor.optional("secret", settings.secret, "32 random bytes in hexadecimal, known to all");
  visitor.optional("listen", settings.listen, "where peers find this process");
  visitor.optional("strategy", settings.strategy, "how tensors are summed");
  visitor.optional("topology", settings.topology, "a topology file");
  visitor.optional("settings", settings.settings, "a settings file");
  visitor.optional("options", settings.options, "the strategy's options, a JSON object as text");
  visitor.optional("nic_rate", settings.nic_rate, "of each machine, if there is no topology");
  visitor.optional("patience", settings.patience, "seconds for a rank to do its part", within(0.1, 1e7));
  visitor.optional("warn_after", settings.warn_after, "seconds after which waits are reported",
                   within(0.1, 1e7));
  visitor.optional("threads", settings.threads, "that sum and copy; 0: by the host's cores", within(0, 1024));
  visitor.optional("encrypt", settings.encrypt, "whether tensors are encrypted between hosts");
  visitor.optional("transport", settings.transport, "what tensors move through");
}

Result<SessionSettings> read_session_settings(const std::string& json, const Environment& all, bool server) {
  const Environment environment = [&all](const std::string& name) {
    auto value = all(name);
    return value && value->empty() ? std::nullopt : value;
  };
  Json document = Json::object();
  if (!json.empty()) document = Json::parse(json, nullptr, false);
  if (!document.is_object()) return failure("settings: expected a JSON object");
  if (document.contains("options") && document["options"].is_object())
    document["options"] = document["options"].dump();
  for (const Source& source : kSources) {
    const std::string setting(source.setting);
    if (document.contains(setting) || setting == (server ? "rank" : "server")) continue;
    for (const char* const variable : source.variables) {
      const auto text = variable == nullptr ? std::nullopt : environment(variable);
      if (!text) continue;
      auto value = value_of(source.setting, variable, *text);
      if (!value) return tl::unexpected(value.error());
      document[setting] = std::move(*value);
      break;
    }
  }
  if (!document.contains("local_size") && !server) {
    const auto size = slurm_local_size(environment);
    if (!size) return tl::unexpected(size.error());
    if (*size) document["local_size"] = **size;
  }
  const auto parsed = parse_document(document.dump(), "settings");
  if (!parsed) return tl::unexpected(parsed.error());
  auto read = read_fields<SessionText>(*parsed);
  if (!read) return tl::unexpected(read.error());
  SessionSettings& settings = read->settings;
  if (server && !read->server) return failure("server: expected this server's number (WEIR_SERVER)");
  settings.role = {server, server ? *read->server : read->rank.value_or(0)};
  if (!server && settings.size > 1 && !read->rank)
    return failure("rank: expected this rank's number (WEIR_RANK)");
  const int count = server ? settings.servers : settings.size;
  if (settings.role.number >= count)
    return failure(fmt::format("there is no {}: the session has {}", text(settings.role), count));
  const Wire* const wire = only_wire(settings.transport);
  if (settings.encrypt && wire != nullptr && wire->traits.uses_devices)
    return failure("encrypt: RDMA devices do not encrypt; set transport to tcp or auto");
  return settings;
}

Result<Address> leader_address(const SessionSettings& settings) {
  const std::size_t colon = settings.leader.rfind(':');
  int port = 0;
  if (colon != std::string::npos) {
    const char* const end = settings.leader.data() + settings.leader.size();
    const auto [rest, error] = std::from_chars(settings.leader.data() + colon + 1, end, port);
    if (error != std::errc() || rest != end) port = 0;
  }
  if (port < 1 || port > 65535 || colon == 0) {
    return failure(
        fmt::format("leader: expected where rank 0 listens for the others, as HOST:PORT, got '{}' "
                    "(WEIR_LEADER)",
                    settings.leader));
  }
  std::string host = settings.leader.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  return Address{host, static_cast<std::uint16_t>(port)};
}

}  // namespace weir::real
