#include "studies/process/processes.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <new>

#include "tests/catch.h"

namespace weir {
namespace {

TEST_CASE("every task runs once, in a process of its own, and its whole text arrives") {
  std::map<std::size_t, std::string> texts;
  const std::string large(1'000'000, 'x');
  const auto signal = run_in_processes(
      20, 3, [&](std::size_t index) { return fmt::format("{} {}", index, large); },
      [&](std::size_t index, const Result<std::string>& text) {
        REQUIRE(text);
        CHECK(texts.emplace(index, *text).second);
      },
      Signals());
  CHECK_FALSE(signal);
  REQUIRE(texts.size() == 20);
  CHECK(texts[7] == "7 " + large);
}

TEST_CASE("a task that crashes is reported and the others go on") {
  std::map<std::size_t, std::string> texts;
  const auto signal = run_in_processes(
      4, 2,
      [](std::size_t index) {
        if (index == 1) raise(SIGKILL);
        if (index == 2) _exit(3);
        return std::string("fine");
      },
      [&](std::size_t index, const Result<std::string>& text) {
        texts[index] = text ? *text : text.error().text;
      },
      Signals());
  CHECK_FALSE(signal);
  CHECK(texts ==
        std::map<std::size_t, std::string>{{0, "fine"},
                                           {1,
                                            "its process was killed, probably because memory ran out; "
                                            "try fewer machines, larger parts or fewer jobs"},
                                           {2, "its process crashed: status 3"},
                                           {3, "fine"}});
}

TEST_CASE("a task whose process is stopped is reported within seconds, but not if it continues") {
  std::map<std::size_t, std::string> texts;
  const auto signal = run_in_processes(
      2, 2,
      [](std::size_t index) {
        const pid_t self = getpid();
        if (index == 1 && fork() == 0) {  // lets the stopped process continue
          usleep(2'000'000);
          kill(self, SIGCONT);
          _exit(0);
        }
        raise(SIGSTOP);
        return std::string("fine");
      },
      [&](std::size_t index, const Result<std::string>& text) {
        texts[index] = text ? *text : text.error().text;
      },
      Signals());
  CHECK_FALSE(signal);
  CHECK_THAT(texts[0], has_text("a signal stopped its process "));
  CHECK_THAT(texts[0], has_text(", which did not continue within 5s"));
  CHECK(texts[1] == "fine");
}

TEST_CASE("a task that throws ends neither the others nor the caller's stack") {
  std::map<std::size_t, std::string> texts;
  const auto signal = run_in_processes(
      3, 3,
      [](std::size_t index) {
        if (index == 2) throw std::bad_alloc();
        usleep(200'000);
        return std::string("fine");
      },
      [&](std::size_t index, const Result<std::string>& text) {
        texts[index] = text ? *text : text.error().text;
      },
      Signals());
  CHECK_FALSE(signal);
  CHECK(texts ==
        std::map<std::size_t, std::string>{{0, "fine"}, {1, "fine"}, {2, "its process crashed: status 1"}});
}

TEST_CASE("a signal ends running tasks, and tasks that have ended stay reported") {
  std::vector<std::size_t> ended;
  const auto signal = run_in_processes(
      100, 2,
      [](std::size_t index) {
        if (index > 0) sleep(60);
        return std::string("fine");
      },
      [&](std::size_t index, const Result<std::string>& text) {
        CHECK(text);
        ended.push_back(index);
        raise(SIGINT);
      },
      Signals());
  CHECK(signal == SIGINT);
  CHECK(ended == std::vector<std::size_t>{0});
}

TEST_CASE("tasks that ended before a signal are reported, and a terminal's signal to all ends no task") {
  for (const int sent : {SIGINT, SIGTERM, SIGHUP}) {
    std::vector<std::size_t> ended;
    const Signals signals;
    const auto signal = run_in_processes(
        2, 2,
        [&](std::size_t index) {
          raise(sent);  // like a terminal: to every process
          return std::string(1'000'000 * index, 'x');
        },
        [&](std::size_t index, const Result<std::string>& text) {
          REQUIRE(text);
          CHECK(text->size() == 1'000'000 * index);
          if (ended.empty()) {
            usleep(200'000);  // until the other has ended too
            raise(sent);
          }
          ended.push_back(index);
        },
        signals);
    CHECK(signal == sent);
    CHECK(ended.size() == 2);
    CHECK_FALSE(signals.arrived());
  }
}

TEST_CASE(
    "a watched task that crashes is reported with its signal and last errors, and a late one is ended") {
  std::map<std::size_t, Ending> endings;
  std::vector<std::size_t> started;
  const Watch watch{
      .deadline = Duration(500'000'000),
      .started = [&](std::size_t index) { started.push_back(index); },
      .ended = [&](std::size_t index, const Ending& ending) { endings.emplace(index, ending); }};
  const auto signal = run_watched(
      3, 2,
      [](std::size_t index) {
        fmt::print(stderr, "{}: I am {}\n", std::string(100'000, '.'), index);
        std::signal(SIGABRT, SIG_DFL);  // undo the tests' own handler
        if (index == 0) raise(SIGABRT);
        if (index == 1) sleep(100);
        return std::string("fine");
      },
      watch, Signals());
  CHECK_FALSE(signal);
  CHECK(started == std::vector<std::size_t>{0, 1, 2});
  CHECK(endings.at(0).signal == SIGABRT);
  CHECK(endings.at(0).errors.ends_with("I am 0\n"));
  CHECK(endings.at(0).errors.size() <= 4096);
  CHECK(endings.at(1).late);
  CHECK(endings.at(1).text.error().text == "it did not finish within 0.5s and was killed");
  CHECK(endings.at(1).took < Duration(5'000'000'000));
  CHECK(endings.at(2).text.value() == "fine");
}

TEST_CASE("watched tasks end once nobody wants them to go on") {
  std::size_t ended = 0;
  const Watch watch{.ended = [&](std::size_t, const Ending&) { ++ended; },
                    .goes_on = [&] { return ended < 3; }};
  CHECK_FALSE(run_watched(
      1000, 1, [](std::size_t) { return std::string(); }, watch, Signals()));
  CHECK(ended == 3);
}

}  // namespace
}  // namespace weir
