#include "backends/real/lab/raw_rate.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <functional>
#include <string>

#include "backends/real/lab/message.h"

namespace weir::real {
namespace {

constexpr Duration kPatience = Duration(10'000'000'000);

// The monotonic clock, which all processes of a host share.
std::int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

// Where the machines are.
struct Places {
  /// Runs a function in a process of its own there.
  std::function<Result<pid_t>(MachineId machine, const std::function<int()>& body)> spawn;
  /// Ends that process.
  std::function<void(pid_t process)> end;
  std::function<std::string(MachineId machine, int nic)> address;
};

struct Span {
  std::int64_t from = 0;
  std::int64_t until = 0;
};

sockaddr_in socket_address(const std::string& host, std::uint16_t port) {
  sockaddr_in name = {};
  name.sin_family = AF_INET;
  name.sin_port = htons(port);
  inet_pton(AF_INET, host.c_str(), &name.sin_addr);
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

// Says at which port it listens, and at the end how many bytes came within the span that the sender names
// first.
int receive_all(const std::string& host, int report) {
  const Descriptor listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in here = socket_address(host, 0);
  if (bind(listener.number(), of(here), sizeof here) != 0 || listen(listener.number(), 1) != 0) return 1;
  socklen_t size = sizeof here;
  if (getsockname(listener.number(), reinterpret_cast<sockaddr*>(&here), &size) != 0) return 1;
  const std::uint16_t port = ntohs(here.sin_port);
  if (write(report, &port, sizeof port) != sizeof port || !readable(listener.number(), kPatience)) return 1;
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

int send_all(const sockaddr_in& here, const sockaddr_in& there, Bytes write, const Span& span) {
  const Descriptor connection(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  set_deadline(connection);
  if (bind(connection.number(), of(here), sizeof here) != 0) return 1;
  if (connect(connection.number(), of(there), sizeof there) != 0) return 1;
  if (!give(connection.number(), &span, sizeof span)) return 1;
  const std::vector<char> bytes(static_cast<std::size_t>(write.count()), 'w');
  while (now() < span.until) {
    if (!give(connection.number(), bytes.data(), bytes.size())) return now() >= span.until ? 0 : 1;
  }
  return 0;
}

// The processes of one measurement, which end with it.
class Run {
 public:
  Run(const Places& places, const std::vector<Stream>& streams, const RateSettings& settings)
      : places_(places), streams_(streams), settings_(settings) {}
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run() {
    for (const pid_t process : processes_) places_.end(process);
  }

  Result<void> start() {
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      if (auto started = start_receiver(streams_[i]); !started) return started;
    }
    std::vector<std::uint16_t> ports(streams_.size());
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      if (!said(i, &ports[i], sizeof ports[i])) return failed(i, "cannot be listened for");
    }
    // Connections are made during the warm-up.
    const std::int64_t from = now() + settings_.warm_up.ns();
    const Span span = {from, from + settings_.time.ns()};
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      const Stream& stream = streams_[i];
      const sockaddr_in here = socket_address(places_.address(stream.from, stream.from_nic), 0);
      const sockaddr_in there = socket_address(places_.address(stream.into, stream.into_nic), ports[i]);
      const auto sender =
          places_.spawn(stream.from, [&] { return send_all(here, there, settings_.write, span); });
      if (!sender) return tl::unexpected(sender.error());
      processes_.push_back(*sender);
    }
    return {};
  }

  Result<std::vector<BytesPerSecond>> rates() {
    std::vector<BytesPerSecond> all;
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      std::int64_t bytes = 0;
      if (!said(i, &bytes, sizeof bytes)) return tl::unexpected(failed(i, "stood still").error());
      const Wide rate = static_cast<Wide>(bytes) * 1'000'000'000 / settings_.time.ns();
      all.emplace_back(static_cast<std::int64_t>(rate));
    }
    return all;
  }

 private:
  Result<void> start_receiver(const Stream& stream) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return failure(fmt::format("no pipe: {}", std::strerror(errno)));
    reports_.emplace_back(ends[0]);
    const Descriptor report(ends[1]);
    const std::string host = places_.address(stream.into, stream.into_nic);
    const auto receiver = places_.spawn(stream.into, [&] { return receive_all(host, report.number()); });
    if (!receiver) return tl::unexpected(receiver.error());
    processes_.push_back(*receiver);
    return {};
  }

  bool said(std::size_t stream, void* into, std::size_t size) {
    const Descriptor& report = reports_[stream];
    return readable(report.number(), settings_.warm_up + settings_.time + kPatience) &&
           take(report.number(), into, size);
  }

  Result<void> failed(std::size_t stream, const char* how) const {
    const Stream& one = streams_[stream];
    return failure(fmt::format("the connection from {} to {} {}", places_.address(one.from, one.from_nic),
                               places_.address(one.into, one.into_nic), how));
  }

  const Places& places_;
  const std::vector<Stream>& streams_;
  const RateSettings& settings_;
  std::vector<Descriptor> reports_;
  std::vector<pid_t> processes_;
};

Result<std::vector<BytesPerSecond>> measure(const Places& places, const std::vector<Stream>& streams,
                                            const RateSettings& settings) {
  Run run(places, streams, settings);
  if (const auto started = run.start(); !started) return tl::unexpected(started.error());
  return run.rates();
}

Result<pid_t> spawn_here(const std::function<int()>& body) {
  const pid_t process = fork();
  if (process < 0) return failure(fmt::format("no process: {}", std::strerror(errno)));
  if (process > 0) return process;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  _exit(body());
}

}  // namespace

Result<std::vector<BytesPerSecond>> raw_rates(Lab& lab, const std::vector<Stream>& streams,
                                              const RateSettings& settings) {
  Places places;
  places.spawn = [&](MachineId machine, const std::function<int()>& body) {
    return lab.spawn(machine, body);
  };
  places.end = [&](pid_t process) {
    kill(process, SIGKILL);
    (void)lab.wait(process, kPatience);
  };
  places.address = lab_address;
  return measure(places, streams, settings);
}

Result<std::vector<BytesPerSecond>> raw_loopback_rates(const std::vector<Stream>& streams,
                                                       const RateSettings& settings) {
  Places places;
  places.spawn = [](MachineId, const std::function<int()>& body) { return spawn_here(body); };
  places.end = [](pid_t process) {
    kill(process, SIGKILL);
    waitpid(process, nullptr, 0);
  };
  places.address = [](MachineId, int) { return std::string("127.0.0.1"); };
  return measure(places, streams, settings);
}

}  // namespace weir::real
