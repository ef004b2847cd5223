#include "backends/real/wire/socket.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>

#include "backends/real/process/clock.h"
#include "core/base/units_text.h"

namespace weir::real {
namespace {

// How many bytes may wait in the kernel. Few, so that messages leave in the order in which they were started.
// Enough to keep the wire busy while the sender's thread sleeps.
constexpr int kUnsent = 512 * 1024;

void free_all(addrinfo* found) {
  if (found != nullptr) ::freeaddrinfo(found);
}

using Found = std::unique_ptr<addrinfo, decltype(&free_all)>;

// An address in the system's form.
struct Place {
  sockaddr_storage storage = {};
  socklen_t size = 0;
  sockaddr* at() { return reinterpret_cast<sockaddr*>(&storage); }  // NOLINT: the form that sockets take
};

Result<Place> place_of_name(const Address& address) {
  sockaddr_un local = {};
  local.sun_family = AF_UNIX;
  if (address.host.size() > sizeof local.sun_path || address.host.size() < 2) {
    return failure(fmt::format("'{}' is not a valid socket name; expected up to {} characters after the '@'",
                               address.host, sizeof local.sun_path - 1));
  }
  // A first byte of 0 means a name without a file.
  std::copy(address.host.begin() + 1, address.host.end(), &local.sun_path[1]);
  Place place;
  place.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address.host.size());
  std::memcpy(&place.storage, &local, place.size);
  return place;
}

// Returns the system's error code, or 0.
int find(const Address& address, int flags, Found& found) {
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* all = nullptr;
  const int failed = ::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &all);
  found.reset(all);
  return failed;
}

Result<Place> look_up(const Address& address) {
  if (is_local(address)) return place_of_name(address);
  Found found(nullptr, &free_all);
  // A numeric address needs no resolver, which may be slow.
  int failed = find(address, AI_NUMERICHOST, found);
  if (failed == EAI_NONAME) failed = find(address, 0, found);
  if (failed != 0) {
    return failure(fmt::format("unknown host '{}': {}; expected a name or an address", address.host,
                               ::gai_strerror(failed)));
  }
  Place place;
  place.size = found->ai_addrlen;
  std::memcpy(&place.storage, found->ai_addr, place.size);
  return place;
}

bool stands_for_all(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    return reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr == INADDR_ANY;  // NOLINT
  }
  const in6_addr& six = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;  // NOLINT
  const bool four = IN6_IS_ADDR_V4MAPPED(&six) &&
                    std::all_of(&six.s6_addr[12], &six.s6_addr[16], [](auto byte) { return byte == 0; });
  return IN6_IS_ADDR_UNSPECIFIED(&six) || four;
}

Descriptor socket_for(const Place& place) {
  return Descriptor(::socket(place.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

void set(const Descriptor& socket, int level, int option, int value) {
  // If the system lacks an option, that costs only speed.
  [[maybe_unused]] const int failed = ::setsockopt(socket.number(), level, option, &value, sizeof value);
}

void prepare(const Descriptor& socket) {
  set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, kUnsent);
}

Result<void> wait_until_connected(const Descriptor& socket, const Address& address, Instant until,
                                  const std::function<Result<void>()>& watch) {
  constexpr std::int64_t kSlice = 100;  // milliseconds
  pollfd one = {socket.number(), POLLOUT, 0};
  int ready = 0;
  do {
    const std::int64_t left = (until - Clock::monotonic()).ns() / 1'000'000;
    if (left <= 0) return failure(fmt::format("{} did not answer in time", text(address)));
    ready = ::poll(&one, 1, static_cast<int>(std::min(left, kSlice)));
    if (!watch) continue;
    if (auto well = watch(); !well) return well;
  } while (ready == 0 || (ready < 0 && errno == EINTR));
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(socket.number(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  if (error != 0) return failure(fmt::format("cannot connect to {}: {}", text(address), reason(error)));
  return {};
}

}  // namespace

std::string reason(int error_number) {
  std::array<char, 128> buffer{};
  return ::strerror_r(error_number, buffer.data(), buffer.size());
}

bool is_local(const Address& address) { return !address.host.empty() && address.host.front() == '@'; }

std::string text(const Address& address) {
  if (is_local(address)) return address.host;
  const bool six = address.host.find(':') != std::string::npos;
  const std::string host = six ? '[' + address.host + ']' : address.host;
  return fmt::format("{}:{}", host, address.port);
}

Result<void> check_reachable(const std::string& host) {
  const auto unfit = [&](const char* why) {
    return failure(fmt::format("'{}' {}; expected the address or name at which other machines find this one",
                               host, why));
  };
  if (host.empty()) return unfit("is not a host");
  if (host.front() == '@') return unfit("is only known on its own host");
  Found found(nullptr, &free_all);
  if (host == "*" || (find({host, 0}, AI_NUMERICHOST, found) == 0 && stands_for_all(*found->ai_addr)))
    return unfit("stands for all addresses of a host");
  return {};
}

namespace {

Result<Address> numbers_of(Place& place) {
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  const int failed = ::getnameinfo(place.at(), place.size, host.data(), host.size(), port.data(), port.size(),
                                   NI_NUMERICHOST | NI_NUMERICSERV);
  if (failed != 0) return failure(::gai_strerror(failed));
  return Address{host.data(), static_cast<std::uint16_t>(std::stoi(port.data()))};
}

}  // namespace

Result<Address> numeric(const Address& address) {
  auto place = look_up(address);
  if (!place) return tl::unexpected(place.error());
  return numbers_of(*place);
}

Result<std::string> address_towards(const Address& other) {
  auto place = look_up(other);
  if (!place) return tl::unexpected(place.error());
  // Connecting a datagram socket sends nothing.
  const Descriptor socket(::socket(place->storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.valid() || ::connect(socket.number(), place->at(), place->size) != 0)
    return failure(fmt::format("cannot reach {}: {}", text(other), reason(errno)));
  place->size = sizeof place->storage;
  if (::getsockname(socket.number(), place->at(), &place->size) != 0) return failure(reason(errno));
  const auto own = numbers_of(*place);
  if (!own) return tl::unexpected(own.error());
  return own->host;
}

Result<Descriptor> listen_at(const Address& address) {
  auto place = look_up(address);
  if (!place) return tl::unexpected(place.error());
  Descriptor socket = socket_for(*place);
  if (socket.valid()) set(socket, SOL_SOCKET, SO_REUSEADDR, 1);
  if (!socket.valid() || ::bind(socket.number(), place->at(), place->size) != 0 ||
      ::listen(socket.number(), SOMAXCONN) != 0) {
    return failure(fmt::format("cannot listen at {}: {}", address.port == 0 ? address.host : text(address),
                               reason(errno)));
  }
  return socket;
}

std::string loopback() {
  constexpr const char* kFour = "127.0.0.1";
  constexpr const char* kSix = "::1";
  return !listen_at({kFour, 0}) && listen_at({kSix, 0}) ? kSix : kFour;
}

Address listening_at(const Descriptor& socket) {
  sockaddr_storage storage = {};
  socklen_t size = sizeof storage;
  auto* at = reinterpret_cast<sockaddr*>(&storage);  // NOLINT: the form that sockets take
  WEIR_CHECK(::getsockname(socket.number(), at, &size) == 0, errno);
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  WEIR_CHECK(::getnameinfo(at, size, host.data(), host.size(), port.data(), port.size(),
                           NI_NUMERICHOST | NI_NUMERICSERV) == 0);
  return {host.data(), static_cast<std::uint16_t>(std::stoi(port.data()))};
}

Result<std::size_t> bytes_sent(ssize_t result) {
  if (result >= 0) return static_cast<std::size_t>(result);
  if (errno == EAGAIN || errno == EINTR) return std::size_t{0};
  return failure(reason(errno));
}

Result<std::size_t> bytes_received(ssize_t result) {
  if (result == 0) return failure("it closed the connection");
  return bytes_sent(result);
}

Descriptor accept_one(const Descriptor& listener) {
  Descriptor socket(::accept4(listener.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (socket.valid()) prepare(socket);
  return socket;
}

Result<Descriptor> connect_to(const Address& address, Duration patience, const Connecting& how) {
  const Instant until = Clock::monotonic() + patience;
  auto place = look_up(address);
  if (!place) return tl::unexpected(place.error());
  Descriptor socket = socket_for(*place);
  if (!socket.valid())
    return failure(fmt::format("cannot open a socket for {}: {}", text(address), reason(errno)));
  prepare(socket);
  if (!how.from.empty() && !is_local(address)) {
    auto here = look_up({how.from, 0});
    if (!here) return tl::unexpected(here.error());
    if (::bind(socket.number(), here->at(), here->size) != 0)
      return failure(fmt::format("cannot connect from {}: {}", how.from, reason(errno)));
  }
  if (::connect(socket.number(), place->at(), place->size) != 0 && errno != EINPROGRESS) {
    return failure(fmt::format("cannot connect to {}: {}", text(address), reason(errno)));
  }
  if (const auto connected = wait_until_connected(socket, address, until, how.watch); !connected) {
    return tl::unexpected(connected.error());
  }
  return socket;
}

}  // namespace weir::real
