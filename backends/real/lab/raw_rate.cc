#include "backends/real/lab/raw_rate.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "backends/real/lab/message.h"

namespace weir::real {
namespace {

constexpr Duration kPatience = Duration(10'000'000'000);
constexpr int kFirstPort = 20000;

// The monotonic clock, which all processes of a host share.
std::int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

struct Span {
  std::int64_t from = 0;
  std::int64_t until = 0;
};

sockaddr_in address(MachineId machine, int nic, int port) {
  sockaddr_in name = {};
  name.sin_family = AF_INET;
  name.sin_port = htons(static_cast<std::uint16_t>(port));
  inet_pton(AF_INET, lab_address(machine, nic).c_str(), &name.sin_addr);
  return name;
}

const sockaddr* of(const sockaddr_in& name) { return reinterpret_cast<const sockaddr*>(&name); }

void set_deadline(const Descriptor& connection) {
  const timeval patience = {kPatience.ns() / 1'000'000'000, 0};
  setsockopt(connection.number(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(connection.number(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
}

bool take(int file, void* into, std::size_t size) {
  auto* at = static_cast<char*>(into);
  while (size > 0) {
    const ssize_t count = read(file, at, size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

bool give(int file, const void* from, std::size_t size) {
  const auto* at = static_cast<const char*>(from);
  while (size > 0) {
    const ssize_t count = ::send(file, at, size, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

// Reports that it listens. At the end reports how many bytes arrived within the span that the sender sent
// first.
int receive_all(const RawFlow& stream, int port, int report) {
  const Descriptor listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int again = 1;
  setsockopt(listener.number(), SOL_SOCKET, SO_REUSEADDR, &again, sizeof again);
  const sockaddr_in here = address(stream.into, stream.into_nic, port);
  if (bind(listener.number(), of(here), sizeof here) != 0 || listen(listener.number(), 1) != 0) return 1;
  const char ready = 1;
  if (write(report, &ready, 1) != 1 || !readable(listener.number(), kPatience)) return 1;
  const Descriptor connection(accept4(listener.number(), nullptr, nullptr, SOCK_CLOEXEC));
  set_deadline(connection);
  Span span;
  if (!take(connection.number(), &span, sizeof span)) return 1;
  std::vector<char> buffer(1 << 20);
  std::int64_t counted = 0;
  for (;;) {
    const ssize_t count = read(connection.number(), buffer.data(), buffer.size());
    if (count < 0) return 1;
    const std::int64_t at = now();
    if (at >= span.from && at < span.until) counted += count;
    if (count == 0 || at >= span.until) break;
  }
  return write(report, &counted, sizeof counted) == sizeof counted ? 0 : 1;
}

int send_all(const RawFlow& stream, int port, Bytes write, const Span& span) {
  const Descriptor connection(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  set_deadline(connection);
  const sockaddr_in here = address(stream.from, stream.from_nic, 0);
  const sockaddr_in there = address(stream.into, stream.into_nic, port);
  if (bind(connection.number(), of(here), sizeof here) != 0) return 1;
  if (connect(connection.number(), of(there), sizeof there) != 0) return 1;
  if (!give(connection.number(), &span, sizeof span)) return 1;
  const std::vector<char> bytes(static_cast<std::size_t>(write.count()), 'w');
  while (now() < span.until) {
    if (!give(connection.number(), bytes.data(), bytes.size())) return now() >= span.until ? 0 : 1;
  }
  return 0;
}

// The processes of one measurement; they end with it.
class Run {
 public:
  Run(Lab& lab, const std::vector<RawFlow>& streams, const RateSettings& settings)
      : lab_(lab), streams_(streams), settings_(settings) {}
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run() {
    for (const pid_t process : processes_) {
      kill(process, SIGKILL);
      (void)lab_.wait(process, kPatience);
    }
  }

  Result<void> start() {
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      if (auto started = start_receiver(streams_[i], port(i)); !started) return started;
    }
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      char ready = 0;
      if (!received(i, &ready, 1)) return failed(i, "could not be opened for listening");
    }
    // Connections are made during the warm-up.
    const std::int64_t from = now() + settings_.warm_up.ns();
    const Span span = {from, from + settings_.time.ns()};
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      const auto sender = lab_.spawn(
          streams_[i].from, [&, i] { return send_all(streams_[i], port(i), settings_.write, span); });
      if (!sender) return tl::unexpected(sender.error());
      processes_.push_back(*sender);
    }
    return {};
  }

  Result<std::vector<BytesPerSecond>> rates() {
    std::vector<BytesPerSecond> all;
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      std::int64_t bytes = 0;
      if (!received(i, &bytes, sizeof bytes)) return tl::unexpected(failed(i, "stood still").error());
      const Wide rate = static_cast<Wide>(bytes) * 1'000'000'000 / settings_.time.ns();
      all.emplace_back(static_cast<std::int64_t>(rate));
    }
    return all;
  }

 private:
  static int port(std::size_t stream) { return kFirstPort + static_cast<int>(stream); }

  Result<void> start_receiver(const RawFlow& stream, int port) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      return failure(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
    reports_.emplace_back(ends[0]);
    const Descriptor report(ends[1]);
    const auto receiver = lab_.spawn(stream.into, [&] { return receive_all(stream, port, report.number()); });
    if (!receiver) return tl::unexpected(receiver.error());
    processes_.push_back(*receiver);
    return {};
  }

  bool received(std::size_t stream, void* into, std::size_t size) {
    const Descriptor& report = reports_[stream];
    return readable(report.number(), settings_.warm_up + settings_.time + kPatience) &&
           take(report.number(), into, size);
  }

  Result<void> failed(std::size_t stream, const char* how) const {
    const RawFlow& one = streams_[stream];
    return failure(fmt::format("the connection from {} to {} {}", lab_address(one.from, one.from_nic),
                               lab_address(one.into, one.into_nic), how));
  }

  Lab& lab_;
  const std::vector<RawFlow>& streams_;
  const RateSettings& settings_;
  std::vector<Descriptor> reports_;
  std::vector<pid_t> processes_;
};

}  // namespace

Result<std::vector<BytesPerSecond>> raw_rates(Lab& lab, const std::vector<RawFlow>& streams,
                                              const RateSettings& settings) {
  Run run(lab, streams, settings);
  if (const auto started = run.start(); !started) return tl::unexpected(started.error());
  return run.rates();
}

}  // namespace weir::real
