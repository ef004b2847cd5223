// Two processes send each other messages through ZeroMQ all the time, as weir bench transport's nodes do:
// what data would move at if it took the way of the control channel. Sends are free of copies; what is
// received is copied into its place, as ZeroMQ allocates it.
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

struct Choices {
  std::size_t bytes = 4 << 20;
  int window = 8;
  int io_threads = 2;
  double seconds = 1;
};

void keep(void* /*data*/, void* /*hint*/) {}  // the bytes outlive the messages

// Bytes a second that arrived here; negative if something failed. `other` is a socket to the other process.
double exchange(const Choices& choices, int other) {
  void* context = zmq_ctx_new();
  zmq_ctx_set(context, ZMQ_IO_THREADS, choices.io_threads);
  // One socket a direction, so that one thread sends while the other receives.
  void* out = zmq_socket(context, ZMQ_PUSH);
  void* in = zmq_socket(context, ZMQ_PULL);
  const int window = choices.window;
  const int patience = 10'000;  // milliseconds
  const int linger = 0;
  zmq_setsockopt(out, ZMQ_SNDHWM, &window, sizeof window);
  zmq_setsockopt(in, ZMQ_RCVHWM, &window, sizeof window);
  for (void* socket : {out, in}) {
    zmq_setsockopt(socket, ZMQ_SNDTIMEO, &patience, sizeof patience);
    zmq_setsockopt(socket, ZMQ_RCVTIMEO, &patience, sizeof patience);
    zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof linger);
  }
  std::array<char, 64> here{};
  std::array<char, 64> there{};
  std::size_t length = here.size();
  if (zmq_bind(in, "tcp://127.0.0.1:*") != 0) return -1;
  zmq_getsockopt(in, ZMQ_LAST_ENDPOINT, here.data(), &length);
  if (write(other, here.data(), here.size()) != std::ssize(here)) return -1;
  if (read(other, there.data(), there.size()) != std::ssize(there)) return -1;
  if (zmq_connect(out, there.data()) != 0) return -1;
  std::vector<char> from(choices.bytes * static_cast<std::size_t>(window), 'w');
  std::vector<char> into(from.size());
  const auto slot = [&](std::vector<char>& memory, int i) {
    return memory.data() + choices.bytes * static_cast<std::size_t>(i % window);
  };
  std::thread sender([&] {
    const auto end = Clock::now() + std::chrono::duration<double>(choices.seconds + 0.5);
    for (int i = 0; Clock::now() < end; ++i) {
      zmq_msg_t message;
      zmq_msg_init_data(&message, slot(from, i), choices.bytes, keep, nullptr);
      if (zmq_msg_send(&message, out, 0) < 0) break;
    }
  });
  double got = 0;
  Clock::time_point begin;
  Clock::time_point now;
  for (int i = 0;; ++i) {
    zmq_msg_t message;
    zmq_msg_init(&message);
    if (zmq_msg_recv(&message, in, 0) < 0) break;
    std::memcpy(slot(into, i), zmq_msg_data(&message), zmq_msg_size(&message));
    now = Clock::now();
    if (i == window) begin = now;  // those before were the warm-up
    if (i > window) got += static_cast<double>(zmq_msg_size(&message));
    zmq_msg_close(&message);
    if (i > window && now - begin > std::chrono::duration<double>(choices.seconds)) break;
  }
  sender.join();
  zmq_close(out);
  zmq_close(in);
  zmq_ctx_term(context);
  return got > 0 ? got / std::chrono::duration<double>(now - begin).count() : -1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Two processes send each other messages through ZeroMQ, all the time.");
  Choices choices;
  app.add_option("--bytes", choices.bytes, "Size of a message")->capture_default_str();
  app.add_option("--under-way", choices.window, "Messages that a process may have sent ahead")
      ->capture_default_str();
  app.add_option("--io-threads", choices.io_threads, "I/O threads of each process")->capture_default_str();
  app.add_option("--seconds", choices.seconds)->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) return 1;
  const pid_t child = fork();
  const double here = exchange(choices, child == 0 ? ends[1] : ends[0]);
  if (child == 0) return write(ends[1], &here, sizeof here) == sizeof here ? 0 : 1;
  double there = -1;
  const bool received = read(ends[0], &there, sizeof there) == sizeof there;
  int status = 1;
  waitpid(child, &status, 0);
  if (!received || status != 0 || here < 0 || there < 0) return 1;
  const nlohmann::ordered_json result = {
      {"bytes", choices.bytes}, {"io_threads", choices.io_threads}, {"bytes_per_s", std::min(here, there)}};
  std::printf("%s\n", result.dump().c_str());
  return 0;
}
