#include "backends/real/lab/message.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

namespace weir::real {
namespace {

constexpr std::size_t kLongestText = 65536;
constexpr std::size_t kFilesAtOnce = 200;  // the kernel takes 253

using Clock = std::chrono::steady_clock;

bool ready(int file, short what, Duration patience) {
  const auto deadline = Clock::now() + std::chrono::nanoseconds(patience.ns());
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd waiting = {file, what, 0};
    const int count = poll(&waiting, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000'000)));
    if (count > 0) return true;
    if (count == 0 && left <= 0) return false;
    if (count < 0 && errno != EINTR) return false;
  }
}

// Sends one packet: a byte that says whether more files follow in the next one, then the text.
struct Packet {
  alignas(cmsghdr) char control[CMSG_SPACE(kFilesAtOnce * sizeof(int))] = {};
  iovec data = {};
  msghdr header = {};

  Packet(char* bytes, std::size_t size) {
    data = {bytes, size};
    header.msg_iov = &data;
    header.msg_iovlen = 1;
  }
};

Result<void> send_packet(int socket, std::string text, const int* files, std::size_t count,
                         Duration patience) {
  Packet packet(text.data(), text.size());
  if (count > 0) {
    packet.header.msg_control = packet.control;
    packet.header.msg_controllen = CMSG_SPACE(count * sizeof(int));
    cmsghdr* files_header = CMSG_FIRSTHDR(&packet.header);
    files_header->cmsg_level = SOL_SOCKET;
    files_header->cmsg_type = SCM_RIGHTS;
    files_header->cmsg_len = CMSG_LEN(count * sizeof(int));
    std::memcpy(CMSG_DATA(files_header), files, count * sizeof(int));
  }
  if (!ready(socket, POLLOUT, patience)) return failure("the other process accepts no message");
  if (sendmsg(socket, &packet.header, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
    return failure(fmt::format("cannot send to the other process: {}", std::strerror(errno)));
  return {};
}

}  // namespace

bool readable(int file, Duration patience) { return ready(file, POLLIN, patience); }

Result<void> send(int socket, const std::string& text, const std::vector<int>& files, Duration patience) {
  std::size_t sent = 0;
  do {
    const std::size_t count = std::min(files.size() - sent, kFilesAtOnce);
    const bool more = sent + count < files.size();
    const std::string body = more ? std::string("+") : "." + text.substr(0, kLongestText - 1);
    if (auto done = send_packet(socket, body, files.data() + sent, count, patience); !done) return done;
    sent += count;
  } while (sent < files.size());
  return {};
}

Result<Message> receive(int socket, Duration patience) {
  Message message;
  for (;;) {
    if (!readable(socket, patience)) return failure("the other process does not answer");
    std::string bytes(kLongestText, '\0');
    Packet packet(bytes.data(), bytes.size());
    packet.header.msg_control = packet.control;
    packet.header.msg_controllen = sizeof packet.control;
    const ssize_t size = recvmsg(socket, &packet.header, MSG_CMSG_CLOEXEC);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return failure("the other process has ended");
    for (cmsghdr* part = CMSG_FIRSTHDR(&packet.header); part != nullptr;
         part = CMSG_NXTHDR(&packet.header, part)) {
      if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
      std::vector<int> numbers((part->cmsg_len - CMSG_LEN(0)) / sizeof(int));
      std::memcpy(numbers.data(), CMSG_DATA(part), numbers.size() * sizeof(int));
      for (const int number : numbers) message.files.emplace_back(number);
    }
    if (bytes[0] == '+') continue;
    message.text = bytes.substr(1, static_cast<std::size_t>(size) - 1);
    return message;
  }
}

}  // namespace weir::real
