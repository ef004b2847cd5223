// A job whose machines differ from what the coordinator takes them for.
#include <future>

#include "backends/real/clock.h"
#include "backends/real/job/coordinator.h"
#include "backends/real/job/host.h"
#include "core/experiment/undertaking.h"
#include "core/plan/hash.h"
#include "tests/catch.h"

namespace weir::real {
namespace {

constexpr Duration kPatience{1'000'000'000};

std::unique_ptr<Undertaking> job(const std::string& tensor) {
  const std::string text = R"({"topology": {"name": "pair", "groups": [{"name": "gpu", "count": 2,
      "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": "8Gbps"}]}]},
    "trace": {"name": "net", "layers": [{"name": "a", "forward": "1ms", "backward": "1ms", "tensors": [)" +
                           tensor + R"(]}]}, "strategies": ["ring"]})";
  auto made = undertake(text, "ring", "test");
  INFO((made ? std::string() : made.error().text));
  REQUIRE(made);
  return std::move(*made);
}

// The coordinator of a job of two machines, which the test itself speaks for.
class Lead {
 public:
  Lead() : job_(job(R"({"name": "w", "elements": 1000})")) {
    auto token = make_token();
    auto fresh = make_key("test", "ipc://@weir-test-" + hexadecimal(token.value()).substr(0, 16));
    auto socket = ControlSocket::listen(fresh.value());
    REQUIRE(socket);
    key_ = fresh->key;
    result_ = std::async(std::launch::async, [this, socket = std::move(*socket)]() mutable {
      CoordinatorSettings settings;
      settings.version = "1";
      settings.patience = kPatience;
      Coordinator coordinator(std::move(socket), settings);
      InputsNote inputs;
      inputs.strategy = "ring";
      const auto result = coordinator.run(inputs, job_->plan, job_->cluster);
      return result ? std::string() : result.error().text;
    });
  }

  const Plan& plan() const { return job_->plan; }
  std::unique_ptr<ControlSocket> member() const { return std::move(ControlSocket::join(key_).value()); }
  /// How the job failed.
  std::string error() { return result_.get(); }

 private:
  std::unique_ptr<Undertaking> job_;
  JobKey key_;
  std::future<std::string> result_;
};

std::unique_ptr<ControlSocket> joined(const Lead& lead, int machine, const std::string& version = "1") {
  auto member = lead.member();
  member->send(note_of(JoinNote{machine, version, {"127.0.0.1"}, {1}}));
  return member;
}

// What the machine hears once it has heard the inputs.
template <class T>
Result<T> heard(ControlSocket& member) {
  const Instant until = Clock::monotonic() + kPatience * 4;
  while (Clock::monotonic() < until) {
    const auto note = member.receive(Duration(100'000'000));
    if (!note || note->type == AliveNote::kType) continue;
    if (note->type == InputsNote::kType && T::kType != InputsNote::kType) continue;
    return content_of<T>(*note);
  }
  return failure("nothing came");
}

TEST_CASE("machines whose tensors differ in size, type or number have other plans, which is told") {
  for (const char* tensor :
       {R"({"name": "w", "elements": 1001})", R"({"name": "w", "elements": 1000, "dtype": "f16"})",
        R"({"name": "w", "elements": 1000}, {"name": "v", "elements": 1})"}) {
    Lead lead;
    const auto first = joined(lead, 0);
    const auto second = joined(lead, 1);
    REQUIRE(heard<InputsNote>(*first));
    first->send(note_of(PlannedNote{plan_hash(lead.plan()), "", ""}));
    second->send(note_of(PlannedNote{plan_hash(job(tensor)->plan), "", ""}));
    CHECK_THAT(lead.error(), has_text("gpu[1] has made another plan of the same inputs"));
    const auto told = heard<FailedNote>(*first);
    REQUIRE(told);
    CHECK_THAT(told->text, has_text("gpu[1] has made another plan"));
  }
}

TEST_CASE("a machine that runs another version is told, and by its name") {
  Lead lead;
  const auto member = joined(lead, 1, "2");
  CHECK_THAT(lead.error(), has_text("gpu[1] runs version 2, and the coordinator 1"));
}

TEST_CASE("a start that waits ends with the names of those that it waits for") {
  Lead lead;
  const auto member = joined(lead, 0);
  CHECK_THAT(lead.error(), has_text("these machines have not joined: gpu[1]"));
}

TEST_CASE("a machine that plans for too long is named") {
  Lead lead;
  const auto first = joined(lead, 0);
  const auto second = joined(lead, 1);
  second->send(note_of(PlannedNote{plan_hash(lead.plan()), "", ""}));
  CHECK_THAT(lead.error(), has_text("these machines have not said 'planned': gpu[0]"));
}

TEST_CASE("who joins twice, or as a machine that is not there, is turned away alone") {
  Lead lead;
  const auto first = joined(lead, 0);
  const auto twice = joined(lead, 0);
  const auto none = joined(lead, 2);
  CHECK(heard<FailedNote>(*twice).has_value());
  CHECK_THAT(heard<FailedNote>(*none).value().text, has_text("there is no machine 2; the cluster has 2"));
  CHECK_THAT(lead.error(), has_text("these machines have not joined: gpu[1]"));
}

TEST_CASE("notes of any bytes end a job with a reason, and nothing else") {
  for (const auto& [type, text] : {std::pair(std::string("\xff\xfe"), std::string("{}")),
                                   {"planned", "\xff"},
                                   {std::string(19, 'x') + "\xc3\xbc", "{}"},
                                   {"failed", "{\"text\": 3}"}}) {
    Lead lead;
    const auto first = joined(lead, 0);
    const auto second = joined(lead, 1);
    REQUIRE(heard<InputsNote>(*first));
    first->send({"", type, text, ""});
    CHECK_THAT(lead.error(), has_text("gpu[0]: "));
    CHECK(heard<FailedNote>(*second).has_value());
  }
}

}  // namespace
}  // namespace weir::real
