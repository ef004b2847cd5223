// A job whose machines differ from what the coordinator expects.
#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <thread>

#include "backends/real/job/coordinator.h"
#include "backends/real/job/host.h"
#include "backends/real/process/clock.h"
#include "core/experiment/planned_run.h"
#include "core/plan/hash.h"
#include "tests/catch.h"

namespace weir::real {
namespace {

constexpr Duration kPatience{1'000'000'000};

std::unique_ptr<PlannedRun> job(const std::string& tensor) {
  const std::string text = R"({"topology": {"name": "pair", "groups": [{"name": "gpu", "count": 2,
      "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": "8Gbps"}]}]},
    "trace": {"name": "net", "layers": [{"name": "a", "forward": "1ms", "backward": "1ms", "tensors": [)" +
                           tensor + R"(]}]}, "strategies": ["ring"]})";
  auto made = plan_run(text, "ring", "test");
  INFO((made ? std::string() : made.error().text));
  REQUIRE(made);
  return std::move(*made);
}

std::string free_endpoint() { return "ipc://@weir-test-" + hexadecimal(make_token().value()).substr(0, 16); }

// The coordinator of a job of two machines. The test plays the machines.
class Lead {
 public:
  explicit Lead(Duration patience = kPatience, std::string experiment = {}, Verify verify = Verify::kNone,
                int elements = 1000)
      : job_(job(fmt::format(R"({{"name": "w", "elements": {}}})", elements))) {
    auto fresh = make_key("test", free_endpoint());
    auto socket = ControlSocket::listen(fresh.value());
    REQUIRE(socket);
    key_ = fresh->key;
    result_ = std::async(std::launch::async, [this, patience, verify, experiment = std::move(experiment),
                                              socket = std::move(*socket)]() mutable {
      CoordinatorSettings settings;
      settings.version = "1";
      settings.patience = patience;
      Coordinator coordinator(std::move(socket), settings);
      InputsNote inputs;
      inputs.strategy = "ring";
      inputs.verify = verify;
      inputs.experiment = std::move(experiment);
      const auto result = coordinator.run(inputs, job_->plan, job_->cluster);
      if (result) checked_ = result->checked;
      if (result) iterations_ = result->record.iterations.size();
      return result ? std::string() : result.error().text;
    });
  }

  const Plan& plan() const { return job_->plan; }
  std::unique_ptr<ControlSocket> member() const { return std::move(ControlSocket::join(key_).value()); }
  /// Waits for the end of the job and returns its error.
  std::string error() { return result_.get(); }
  /// The number of checked elements; call it after the end.
  std::int64_t checked() const { return checked_; }
  /// The number of iterations in the job's record; call it after the end.
  std::size_t iterations() const { return iterations_; }

 private:
  std::int64_t checked_ = -1;
  std::size_t iterations_ = 0;
  std::unique_ptr<PlannedRun> job_;
  JobKey key_;
  std::future<std::string> result_;
};

std::unique_ptr<ControlSocket> joined(const Lead& lead, int machine, const std::string& version = "1") {
  auto member = lead.member();
  member->send(note_of(JoinNote{machine, version, {"127.0.0.1"}, {1}}));
  return member;
}

// The next note of this type that the machine receives, after the inputs.
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

TEST_CASE("machines whose tensors differ in size, type or number fail with an error") {
  for (const char* tensor :
       {R"({"name": "w", "elements": 1001})", R"({"name": "w", "elements": 1000, "dtype": "f16"})",
        R"({"name": "w", "elements": 1000}, {"name": "v", "elements": 1})"}) {
    Lead lead;
    const auto first = joined(lead, 0);
    const auto second = joined(lead, 1);
    REQUIRE(heard<InputsNote>(*first));
    first->send(note_of(PlannedNote{plan_hash(lead.plan()), "", ""}));
    second->send(note_of(PlannedNote{plan_hash(job(tensor)->plan), "", ""}));
    CHECK_THAT(lead.error(), has_text("gpu[1]: it made a different plan from the same inputs"));
    const auto failed = heard<FailedNote>(*first);
    REQUIRE(failed);
    CHECK_THAT(failed->text, has_text("gpu[1]: it made a different plan"));
  }
}

TEST_CASE("a machine that runs another version is rejected by name") {
  Lead lead;
  const auto member = joined(lead, 1, "2");
  const std::string differs = "gpu[1] runs version 2, but the coordinator runs 1";
  CHECK_THAT(lead.error(), has_text(differs));
  CHECK_THAT(heard<FailedNote>(*member).value().text, has_text(differs));
}

TEST_CASE("a start that waits in vain names the missing machines") {
  Lead lead;
  const auto member = joined(lead, 0);
  CHECK_THAT(lead.error(), has_text("these machines have not joined: gpu[1]"));
}

TEST_CASE("a machine that plans for too long is named") {
  Lead lead;
  const auto first = joined(lead, 0);
  const auto second = joined(lead, 1);
  REQUIRE(heard<InputsNote>(*second));
  second->send(note_of(PlannedNote{plan_hash(lead.plan()), "", ""}));
  const std::string error = lead.error();
  CHECK_THAT(error, has_text("these machines have not sent 'planned': gpu[0]; each plans and then prepares"));
  CHECK_THAT(error, has_text("--patience waits longer"));
}

TEST_CASE("the time to prepare much memory does not count against patience") {
  Lead lead(kPatience, {}, Verify::kNone, 25'000'000);  // 100 MB on each machine, which take some seconds
  const auto first = joined(lead, 0);
  const auto second = joined(lead, 1);
  for (const auto* member : {&first, &second}) REQUIRE(heard<InputsNote>(**member));
  first->send(note_of(PlannedNote{plan_hash(lead.plan()), "", ""}));
  std::this_thread::sleep_for(std::chrono::nanoseconds(2 * kPatience.ns()));
  second->send(note_of(PlannedNote{plan_hash(lead.plan()), "", ""}));
  CHECK(heard<MeetNote>(*first));
}

TEST_CASE("a machine that joins just after the job has failed gets the reason") {
  Lead lead;
  const auto other = joined(lead, 1, "2");
  REQUIRE(heard<FailedNote>(*other));
  const auto late = joined(lead, 0);
  CHECK_THAT(heard<FailedNote>(*late).value().text, has_text("the job has failed: gpu[1] runs version 2"));
}

TEST_CASE("a process that joins twice, or as an unknown machine, is turned away alone") {
  Lead lead;
  const auto first = joined(lead, 0);
  const auto twice = joined(lead, 0);
  const auto none = joined(lead, 2);
  CHECK(heard<FailedNote>(*twice).has_value());
  CHECK_THAT(heard<FailedNote>(*none).value().text, has_text("there is no machine 2; the cluster has 2"));
  CHECK_THAT(lead.error(), has_text("these machines have not joined: gpu[1]"));
}

TEST_CASE("notes of arbitrary bytes end a job with a reason, and do nothing else") {
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

// Two machines that have completed all steps before the first iteration.
struct Pair {
  explicit Pair(const Lead& lead) : first(joined(lead, 0)), second(joined(lead, 1)) {
    for (ControlSocket* one : {first.get(), second.get()}) {
      one->keep_alive();
      REQUIRE(heard<InputsNote>(*one));
      one->send(note_of(PlannedNote{plan_hash(lead.plan()), "", ""}));
    }
    meet();
  }

  void meet() const {
    for (ControlSocket* one : {first.get(), second.get()}) {
      REQUIRE(heard<MeetNote>(*one));
      one->send(note_of(MetNote{}));
    }
    for (int round = 0; round < 8; ++round) {
      for (ControlSocket* one : {first.get(), second.get()}) {
        REQUIRE(heard<AskClockNote>(*one));
        one->send(note_of(ClockNote{Clock::monotonic().ns()}));
      }
    }
    REQUIRE(heard<GoNote>(*first));
    REQUIRE(heard<GoNote>(*second));
  }

  std::unique_ptr<ControlSocket> first;
  std::unique_ptr<ControlSocket> second;
};

std::int64_t record_size(const Lead& lead, std::size_t machine) {
  return static_cast<std::int64_t>(lead.plan().ops(MachineId(machine)).size() * sizeof(OpRecord));
}

void send_record(const Lead& lead, ControlSocket& from, std::size_t machine, std::int64_t checked) {
  const std::int64_t size = record_size(lead, machine);
  from.send(note_of(RecordNote{0}, {}, std::string(7, 'x')));
  from.send(note_of(RecordNote{7}, {}, std::string(static_cast<std::size_t>(size - 7), 'x')));
  from.send(note_of(DoneNote{checked}));
}

constexpr Duration kLong{20'000'000'000};

TEST_CASE("a machine that falls silent is named within five seconds, before and while the job runs") {
  for (const bool running : {false, true}) {
    Lead lead(kLong);
    std::unique_ptr<Pair> pair;
    std::unique_ptr<ControlSocket> first;
    std::unique_ptr<ControlSocket> second;
    if (running) {
      pair = std::make_unique<Pair>(lead);
      pair->second.reset();
    } else {
      first = joined(lead, 0);
      first->keep_alive();
      second = joined(lead, 1);
      REQUIRE(heard<InputsNote>(*second));
    }
    const Instant begin = Clock::monotonic();
    CHECK_THAT(lead.error(), has_text("gpu[1] has said nothing for 3s"));
    CHECK(Clock::monotonic() - begin < Duration(5'000'000'000));
    CHECK(heard<FailedNote>(running ? *pair->first : *first));
  }
}

TEST_CASE("a machine that falls silent is named within five seconds, however much another one sends") {
  Lead lead(kLong);
  const auto first = joined(lead, 0);
  auto second = joined(lead, 1);
  REQUIRE(heard<InputsNote>(*second));
  const Instant begin = Clock::monotonic();
  // Like the heartbeats of many machines: one every few milliseconds.
  while (Clock::monotonic() - begin < Duration(4'500'000'000)) {
    first->send(note_of(AliveNote{}));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (const auto note = first->receive(Duration(0)); note && note->type == FailedNote::kType) break;
  }
  CHECK(Clock::monotonic() - begin < Duration(4'000'000'000));
  CHECK_THAT(lead.error(), has_text("gpu[1] has said nothing for 3s"));
}

TEST_CASE("a machine that falls silent while others have not joined is named within five seconds") {
  Lead lead(kLong);
  const auto first = joined(lead, 0);
  const Instant begin = Clock::monotonic();
  CHECK_THAT(lead.error(), has_text("gpu[0] has said nothing for 3s"));
  CHECK(Clock::monotonic() - begin < Duration(5'000'000'000));
}

TEST_CASE("a machine is not lost while it sends a long record or waits for others") {
  Lead lead(kLong);
  Pair pair(lead);
  send_record(lead, *pair.first, 0, 1);
  // Pieces over a slow connection. Nothing else arrives for longer than a machine may be silent.
  const std::int64_t size = record_size(lead, 1);
  const std::int64_t piece = size / 4;
  for (std::int64_t at = 0; at < size; at += piece) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1200));
    const std::int64_t bytes = std::min(piece, size - at);
    pair.second->send(note_of(RecordNote{at}, {}, std::string(static_cast<std::size_t>(bytes), 'x')));
  }
  pair.second->send(note_of(DoneNote{2}));
  CHECK(heard<GoodbyeNote>(*pair.first));
  CHECK(heard<GoodbyeNote>(*pair.second));
  CHECK(lead.error().empty());
  CHECK(lead.checked() == 3);
}

TEST_CASE("machines meet again after an iteration that is checked ahead, and the record lacks it") {
  Lead lead(kLong, {}, Verify::kFirst);
  Pair pair(lead);
  send_record(lead, *pair.first, 0, 1);
  send_record(lead, *pair.second, 1, 2);
  pair.meet();
  send_record(lead, *pair.first, 0, 0);
  send_record(lead, *pair.second, 1, 0);
  CHECK(heard<GoodbyeNote>(*pair.first));
  CHECK(heard<GoodbyeNote>(*pair.second));
  CHECK(lead.error().empty());
  CHECK(lead.checked() == 3);
  CHECK(lead.iterations() == 1);
}

TEST_CASE("a sum that is wrong in the iteration that is checked ahead ends the job") {
  Lead lead(kLong, {}, Verify::kFirst);
  Pair pair(lead);
  send_record(lead, *pair.first, 0, 1);
  pair.second->send(note_of(FailedNote{"a sum is wrong: element 3"}));
  CHECK_THAT(heard<FailedNote>(*pair.first).value().text, has_text("gpu[1]: a sum is wrong: element 3"));
  CHECK_THAT(lead.error(), has_text("gpu[1]: a sum is wrong: element 3"));
}

TEST_CASE("a machine that reports twice that it is done counts once") {
  Lead lead(kLong);
  Pair pair(lead);
  send_record(lead, *pair.first, 0, 1);
  pair.first->send(note_of(DoneNote{100}));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  send_record(lead, *pair.second, 1, 2);
  CHECK(lead.error().empty());
  CHECK(lead.checked() == 3);
}

TEST_CASE("a record of the wrong size or order ends the job") {
  const auto check = [](std::int64_t at, std::int64_t more, const std::string& why) {
    Lead lead(kLong);
    Pair pair(lead);
    const auto size = static_cast<std::size_t>(record_size(lead, 1) + more - at);
    pair.second->send(note_of(RecordNote{at}, {}, std::string(size, 'x')));
    pair.second->send(note_of(DoneNote{0}));
    const std::string error = lead.error();
    CHECK_THAT(error, has_text("gpu[1]: "));
    CHECK_THAT(error, has_text(why));
  };
  check(0, 1, "of its record; expected bytes from 0 up to ");
  check(24, 0, "of its record; expected bytes from 0 up to ");
  check(0, -1, "a record of ");
}

TEST_CASE("an experiment that is too long for a note is refused before anything starts") {
  Lead lead(kLong, std::string(static_cast<std::size_t>(kLargestNote.count() / 2) + 1, ' '));
  CHECK_THAT(lead.error(), has_text("the experiment has 134217729 bytes"));
}

TEST_CASE("a machine that listens where others cannot find it is turned away") {
  for (const char* host : {"@weir", "", "0.0.0.0", "0", "::", "::ffff:0.0.0.0", "*"}) {
    Lead lead;
    const auto member = lead.member();
    member->send(note_of(JoinNote{0, "1", {host}, {1}}));
    const auto failed = heard<FailedNote>(*member);
    REQUIRE(failed);
    CHECK_THAT(failed->text, has_text("gpu[0] listens where others cannot find it: '"));
    CHECK_THAT(lead.error(), has_text("these machines have not joined: gpu[0], gpu[1]"));
  }
}

}  // namespace
}  // namespace weir::real
