#include "backends/real/meters/plain_rate.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include "backends/real/process/child.h"
#include "backends/real/process/clock.h"
#include "backends/real/wire/socket.h"
#include "core/base/check.h"

namespace weir::real {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;
constexpr Duration kPatience{10'000'000'000};

// The ends of a connection, both blocking.
struct Connection {
  Descriptor from;
  Descriptor into;
};

Result<Connection> connection() {
  const auto listener = listen_at({loopback(), 0});
  if (!listener) return tl::unexpected(listener.error());
  auto from = connect_to(listening_at(*listener), kPatience);
  if (!from) return tl::unexpected(from.error());
  Connection made{std::move(*from), accept_one(*listener)};
  if (!made.into.valid()) return failure("a connection over the loopback interface was not accepted");
  for (const Descriptor* end : {&made.from, &made.into})
    ::fcntl(end->number(), F_SETFL, ::fcntl(end->number(), F_GETFL) & ~O_NONBLOCK);
  return made;
}

constexpr Duration kStart{60'000'000'000};  // for processes to start and get their memory

// Bytes that are moved in pieces, from the beginning again after the last piece.
class Reel {
 public:
  explicit Reel(Bytes size) : bytes_(static_cast<std::size_t>(size.count()), 'w') {}
  char* at() { return bytes_.data() + at_; }
  std::size_t piece() const { return std::min(kPiece, bytes_.size() - at_); }
  void wind(std::size_t count) { at_ = (at_ + count) % bytes_.size(); }

 private:
  std::vector<char> bytes_;
  std::size_t at_ = 0;
};

double rate(std::int64_t bytes, Instant begin) {
  return static_cast<double>(bytes) / (Clock::monotonic() - begin).seconds();
}

// Bytes received per second.
double exchange(const Descriptor& from, const Descriptor& into, const PlainSettings& settings) {
  Reel out(settings.memory);
  Reel in(settings.memory);
  const Instant begin = Clock::monotonic();
  const Instant end = begin + settings.time;
  std::thread sender([&] {
    while (Clock::monotonic() < end) {
      const ssize_t count = ::send(from.number(), out.at(), out.piece(), MSG_NOSIGNAL);
      if (count <= 0) break;
      out.wind(static_cast<std::size_t>(count));
    }
    ::shutdown(from.number(), SHUT_WR);
  });
  std::int64_t got = 0;
  for (;;) {
    const ssize_t count = ::recv(into.number(), in.at(), in.piece(), 0);
    if (count <= 0) break;
    in.wind(static_cast<std::size_t>(count));
    got += count;
  }
  const double in_a_second = rate(got, begin);
  sender.join();
  return in_a_second;
}

double copy(const PlainSettings& settings) {
  Reel from(settings.memory);
  Reel into(settings.memory);
  const Instant begin = Clock::monotonic();
  const Instant end = begin + settings.time;
  std::int64_t done = 0;
  while (Clock::monotonic() < end) {
    const std::size_t piece = from.piece();
    std::memcpy(into.at(), from.at(), piece);
    from.wind(piece);
    into.wind(piece);
    done += static_cast<std::int64_t>(piece);
  }
  return rate(done, begin);
}

// Each process writes its bytes per second here: memory that all of them share.
class SharedRates {
 public:
  explicit SharedRates(std::size_t processes) : processes_(processes) {
    void* at = ::mmap(nullptr, processes * sizeof(double), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                      -1, 0);
    WEIR_CHECK(at != MAP_FAILED, errno);
    rates_ = static_cast<double*>(at);
  }
  SharedRates(const SharedRates&) = delete;
  SharedRates& operator=(const SharedRates&) = delete;
  ~SharedRates() { ::munmap(rates_, processes_ * sizeof(double)); }

  double& of(std::size_t process) { return rates_[process]; }

 private:
  std::size_t processes_;
  double* rates_;
};

}  // namespace

Result<PlainRate> plain_rate(const PlainSettings& settings) {
  const auto count = static_cast<std::size_t>(settings.processes);
  std::vector<Connection> connections;  // from process i to i + 1
  for (std::size_t i = 0; i < count && !settings.shared_memory; ++i) {
    auto made = connection();
    if (!made) return tl::unexpected(made.error());
    connections.push_back(std::move(*made));
  }
  SharedRates rates(count);
  std::vector<pid_t> processes;
  for (std::size_t i = 0; i < count; ++i) {
    processes.push_back(fork_child());
    if (processes.back() != 0) continue;
    // Closes the other ends, so that each process sees when its input ends.
    Connection mine;
    if (!settings.shared_memory) {
      mine.from = std::move(connections[i].from);
      mine.into = std::move(connections[(i + count - 1) % count].into);
      connections.clear();
    }
    rates.of(i) = settings.shared_memory ? copy(settings) : exchange(mine.from, mine.into, settings);
    ::_exit(0);
  }
  connections.clear();
  const auto ended = wait_for_children(processes, "which measures the plain rate", settings.time + kStart);
  if (!ended) return tl::unexpected(ended.error());
  double sum = 0;
  double least = std::numeric_limits<double>::max();
  for (std::size_t i = 0; i < count; ++i) {
    sum += rates.of(i);
    least = std::min(least, rates.of(i));
  }
  return PlainRate{BytesPerSecond(std::llround(sum)), BytesPerSecond(std::llround(least))};
}

}  // namespace weir::real
