// The control channel of a job.
#include "backends/real/job/control.h"

#include <chrono>
#include <string>
#include <thread>

#include "backends/real/job/host.h"
#include "backends/real/job/notes.h"
#include "backends/real/process/clock.h"
#include "core/base/hexadecimal.h"
#include "tests/catch.h"

namespace weir::real {
namespace {

std::string free_test_endpoint() {
  return "ipc://@weir-test-" + hexadecimal(make_token().value()).substr(0, 16);
}

TEST_CASE("a control channel speaks IPv6 where its address does") {
  auto fresh = make_key("test", "tcp://[::1]:*");
  const auto socket = ControlSocket::listen(fresh.value());
  if (!socket && socket.error().text.find("assign") != std::string::npos) return;  // this host has no IPv6
  REQUIRE(socket);
  fresh->key.endpoint = (*socket)->endpoint();
  CHECK_THAT(fresh->key.endpoint, has_text("tcp://[::1]:"));
  const auto member = ControlSocket::join(fresh->key);
  REQUIRE(member);
  (*member)->send(note_of(MetNote{}));
  CHECK((*socket)->receive(Duration(5'000'000'000)));
}

// The thread sanitizer spends long on each byte that arrives through ZeroMQ before the note is dropped. With
// it, notes are short, so that all of them may fit into the sockets' own memory.
#ifdef __SANITIZE_THREAD__
constexpr std::size_t kLongNote = 100;
#else
constexpr std::size_t kLongNote = 10'000;
#endif

TEST_CASE(
    "the other end hears that one is alive while its owner is busy, and all that was sent before it went") {
  auto fresh = make_key("test", free_test_endpoint());
  const auto socket = ControlSocket::listen(fresh.value());
  REQUIRE(socket);
  auto member = ControlSocket::join(fresh->key).value();
  member->send(note_of(MetNote{}));
  const auto met = (*socket)->receive(Duration(5'000'000'000));
  REQUIRE(met);
  member->keep_alive();
  (*socket)->keep_alive(met->from);
  std::this_thread::sleep_for(std::chrono::milliseconds(2200));
  for (ControlSocket* one : {socket->get(), member.get()}) {
    int beats = 0;
    while (const auto note = one->receive(Duration(0))) beats += note->type == AliveNote::kType ? 1 : 0;
    CHECK(beats >= 3);
    CHECK(beats <= 5);
  }
  for (int i = 0; i < 1000; ++i) member->send(note_of(RecordNote{i}, {}, std::string(kLongNote, 'x')));
  member.reset();
  int came = 0;
  while (const auto note = (*socket)->receive(Duration(2'000'000'000)))
    came += note->type == RecordNote::kType ? 1 : 0;
  CHECK(came == 1000);
}

TEST_CASE("a machine whose coordinator is gone ends at once, even if notes are left to send") {
  auto fresh = make_key("test", free_test_endpoint());
  auto member = ControlSocket::join(fresh->key).value();
  for (int i = 0; i < 10; ++i) member->send(note_of(AliveNote{}));
  member->drop_unsent();
  const Instant begin = Clock::monotonic();
  member.reset();
  CHECK(Clock::monotonic() - begin < Duration(500'000'000));
}
}  // namespace
}  // namespace weir::real
