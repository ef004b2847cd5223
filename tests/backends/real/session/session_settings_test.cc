// The settings of a training session, and the plans that it makes from them.
#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "backends/real/session/session.h"
#include "backends/real/session/session_layout.h"
#include "backends/real/session/settings.h"
#include "core/strategies/strategy.h"
#include "tests/catch.h"
#include "tests/core/experiment/folder.h"

namespace weir::real {
namespace {

TEST_CASE("settings come from a document first, and then from the process's launcher") {
  std::map<std::string, std::string> variables;
  const auto read = [&](const std::string& json, bool server = false) {
    return read_session_settings(
        json,
        [&](const std::string& name) {
          const auto found = variables.find(name);
          return found == variables.end() ? std::nullopt : std::optional(found->second);
        },
        server);
  };
  CHECK(read("")->size == 1);
  variables = {
      {"SLURM_PROCID", "3"}, {"SLURM_NTASKS", "4"}, {"OMPI_COMM_WORLD_RANK", "2"}, {"WEIR_PATIENCE", "7.5"}};
  CHECK(read("")->role.number == 2);
  CHECK(read("")->size == 4);
  CHECK(read("")->patience == 7.5);
  CHECK(read(R"({"rank": 1, "options": {"credit": 3}})")->role.number == 1);
  CHECK(read(R"({"options": {"credit": 3}})")->options == R"({"credit":3})");
  const auto says = [&](const std::string& json, const char* what) {
    const auto refused = read(json);
    REQUIRE_FALSE(refused);
    INFO(refused.error().text);
    CHECK(refused.error().text.find(what) != std::string::npos);
  };
  says(R"({"rank": 4})", "there is no rank 4");
  says(R"({"ranc": 1})", "ranc");
  says("[]", "object");
  says(R"({"size": 0})", "size");
  says(R"({"encrypt": true, "transport": "rdma"})", "RDMA devices do not encrypt");
  CHECK(read(R"({"encrypt": true, "transport": "auto"})"));
  variables["SLURM_STEP_TASKS_PER_NODE"] = "2(x3),5";
  for (const auto& [node, size] : std::map<std::string, int>{{"0", 2}, {"2", 2}, {"3", 5}}) {
    variables["SLURM_NODEID"] = node;
    CHECK(read("")->local_size == size);
  }
  for (const char* node : {"4", "x", "-1"}) {
    variables["SLURM_NODEID"] = node;
    says("", "SLURM_STEP_TASKS_PER_NODE");
  }
  variables.erase("SLURM_STEP_TASKS_PER_NODE");
  variables["SLURM_TASKS_PER_NODE"] = "7,1(x2)";
  variables["SLURM_NODEID"] = "0";
  CHECK(read("")->local_size == 7);
  variables["OMPI_COMM_WORLD_LOCAL_SIZE"] = "4";
  CHECK(read("")->local_size == 4);
  variables["LOCAL_WORLD_SIZE"] = "3";
  CHECK(read("")->local_size == 3);
  variables["WEIR_RANK"] = "one";
  says("", "WEIR_RANK: expected a number, got 'one'");
  variables = {{"WORLD_SIZE", "4"}};
  says("", "WEIR_RANK");
  CHECK_FALSE(read("", true));
  variables = {{"WEIR_SERVER", "1"}, {"WEIR_SERVERS", "2"}, {"RANK", "7"}};
  CHECK(read("", true)->role.number == 1);
  variables["WEIR_SETTINGS"] = "best.json";
  CHECK(read("", true)->settings == "best.json");
  variables["WEIR_NIC_RATE"] = "25Gbps";
  CHECK(read("", true)->nic_rate.value() == 3'125'000'000);
}

TEST_CASE("parts are cut for the rate of NICs, unless options say how") {
  const Folder folder;
  folder.write("best.json", R"({"settings": {"partition_size": "250KB", "credit": 2}})");
  const std::string best = folder.path() + "/best.json";
  const auto largest = [](std::int64_t rate, const std::string& options, const std::string& file = "") {
    LayoutSettings settings;
    settings.settings = file;
    settings.ranks = settings.servers = 2;
    settings.nic_rate = BytesPerSecond(rate);
    settings.options = options;
    const auto layout = SessionLayout::make(settings);
    REQUIRE(layout);
    const auto planned = layout->plan({{"tensor", 10'000'000, Dtype::kF32, 0}}, {});
    REQUIRE(planned);
    Bytes most;
    for (const MessageEnds& message : (*planned)->plan.messages())
      most = std::max(most, (*planned)->plan.op(message.send).from.size);
    return most.count();
  };
  CHECK(largest(125'000'000, "") == 500'000);
  const auto fast = largest(12'500'000'000, "");
  CHECK(fast <= 1 << 20);
  CHECK(fast > 1 << 19);
  CHECK(largest(125'000'000, R"({"partition_size": "200KB"})") == 200'000);
  CHECK(largest(125'000'000, "", best) == 250'000);
  CHECK(largest(125'000'000, R"({"partition_size": "200KB"})", best) == 200'000);
}

TEST_CASE("a setting that is wrong with several ranks is refused with one rank, in the same words") {
  const Folder folder;
  folder.write("unknown.json", R"({"settings": {"speed": 3}})");
  folder.write("two.json", R"({"name": "two", "groups": [{"name": "gpu", "count": 2,
      "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": "1GB/s"}]}]})");
  const auto error_of = [](SessionSettings settings, int ranks) {
    settings.size = ranks;
    const auto session = Session::join(settings, "test");
    REQUIRE_FALSE(session);
    CHECK(session.error().status == SessionStatus::kInvalid);
    return session.error().text;
  };
  const auto refused = [&](const SessionSettings& settings, const std::string& what) {
    const std::string error = error_of(settings, 1);
    INFO(error);
    CHECK(error.find(what) != std::string::npos);
    CHECK(error == error_of(settings, 3));
  };
  SessionSettings settings;
  settings.strategy = "none";
  refused(settings, "strategy: unknown strategy 'none'");
  settings.strategy = "ddp";
  refused(settings, "strategy: 'ddp' cannot train");
  settings.strategy = "ps";
  refused(settings, "needs at least one machine without GPUs");
  settings = {};
  settings.options = R"({"credit": "much"})";
  refused(settings, "credit");
  settings.options = R"({"speed": 3})";
  refused(settings, "options: a strategy has no option 'speed'");
  settings.options = "credit";
  refused(settings, "options: expected a JSON object, got credit");
  settings = {};
  settings.settings = folder.path() + "/unknown.json";
  refused(settings, "speed");
  settings.settings = folder.path() + "/missing.json";
  refused(settings, "missing.json: there is no such file");
  settings = {};
  settings.topology = folder.path() + "/missing.json";
  refused(settings, "missing.json: there is no such file");
  settings.topology = folder.path() + "/two.json";
  CHECK(error_of(settings, 1).find("the session has 1 ranks and 0 servers") != std::string::npos);
}

TEST_CASE("one rank may have any strategy that sums without servers") {
  for (const Strategy& strategy : strategies()) {
    SessionSettings settings;
    settings.strategy = strategy.name;
    if (!strategy.cannot_train.empty() || strategy.name == server_strategy()) continue;
    INFO(strategy.name);
    CHECK(Session::join(settings, "test"));
  }
}

}  // namespace
}  // namespace weir::real
