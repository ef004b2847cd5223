#include "backends/real/wire/stream.h"

#include <sodium.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "backends/real/wire/socket.h"
#include "core/base/check.h"

namespace weir::real {
namespace {

constexpr std::size_t kMostPlain = std::size_t{64} << 10;  // in one record
constexpr std::size_t kSizeBytes = 4;
constexpr std::size_t kTagBytes = crypto_aead_chacha20poly1305_ietf_ABYTES;
constexpr std::size_t kHeader = kSizeBytes + kTagBytes;

using Nonce = std::array<unsigned char, crypto_aead_chacha20poly1305_ietf_NPUBBYTES>;
static_assert(sizeof(Secret) == crypto_aead_chacha20poly1305_ietf_KEYBYTES);

Nonce nonce_of(std::uint64_t record) {
  Nonce nonce{};
  for (std::size_t i = 0; i < sizeof record; ++i) nonce[i] = static_cast<unsigned char>(record >> (8 * i));
  return nonce;
}

const unsigned char* bytes_of(const Secret& secret) {
  return reinterpret_cast<const unsigned char*>(secret.data());
}

msghdr message_of(std::span<const iovec> vectors) {
  msghdr message = {};
  message.msg_iov = const_cast<iovec*>(vectors.data());  // the kernel does not change them
  message.msg_iovlen = vectors.size();
  return message;
}

}  // namespace

struct Stream::Sealing {
  explicit Sealing(const SealKeys& both) : keys(both), out(kHeader + kMostPlain), in(kHeader + kMostPlain) {}

  SealKeys keys;
  std::vector<unsigned char> out;  // the record being sent: size, tag, ciphertext
  std::size_t out_size = 0;
  std::size_t sent = 0;
  std::uint64_t records_out = 0;
  std::vector<unsigned char> in;  // the record being received; it is opened in place
  std::size_t got = 0;
  std::size_t plain = 0;  // bytes in the opened record; 0 until it is opened
  std::size_t given = 0;  // how many of them were given to the caller
  std::uint64_t records_in = 0;

  std::size_t in_size() const {
    std::size_t size = 0;
    for (std::size_t i = 0; i < kSizeBytes; ++i) size |= std::size_t{in[i]} << (8 * i);
    return size;
  }
};

Stream::Stream() = default;
Stream::Stream(Descriptor connection) : connection_(std::move(connection)) {}
Stream::Stream(Stream&& other) noexcept = default;
Stream& Stream::operator=(Stream&& other) noexcept = default;
Stream::~Stream() = default;

void Stream::seal(const SealKeys& keys) {
  WEIR_CHECK(sodium_init() >= 0);
  sealing_ = std::make_unique<Sealing>(keys);
}

bool Stream::pending() const { return sealing_ != nullptr && sealing_->sent < sealing_->out_size; }
bool Stream::holds() const { return sealing_ != nullptr && sealing_->given < sealing_->plain; }

Result<void> Stream::flush() {
  while (pending()) {
    Sealing& seal = *sealing_;
    const auto sent =
        bytes_sent(::send(number(), seal.out.data() + seal.sent, seal.out_size - seal.sent, MSG_NOSIGNAL));
    if (!sent) return tl::unexpected(sent.error());
    if (*sent == 0) break;
    seal.sent += *sent;
  }
  return {};
}

Result<std::size_t> Stream::send(std::span<const iovec> bytes) {
  if (sealing_ == nullptr) {
    const msghdr message = message_of(bytes);
    return bytes_sent(::sendmsg(number(), &message, MSG_NOSIGNAL));
  }
  if (const auto flushed = flush(); !flushed) return tl::unexpected(flushed.error());
  if (pending()) return std::size_t{0};
  Sealing& seal = *sealing_;
  unsigned char* const plain = seal.out.data() + kHeader;
  std::size_t size = 0;
  for (const iovec& vector : bytes) {
    const std::size_t part = std::min(vector.iov_len, kMostPlain - size);
    if (part == 0) continue;
    std::memcpy(plain + size, vector.iov_base, part);
    size += part;
  }
  if (size == 0) return std::size_t{0};
  for (std::size_t i = 0; i < kSizeBytes; ++i) seal.out[i] = static_cast<unsigned char>(size >> (8 * i));
  const Nonce nonce = nonce_of(seal.records_out++);
  crypto_aead_chacha20poly1305_ietf_encrypt_detached(plain, seal.out.data() + kSizeBytes, nullptr, plain,
                                                     size, seal.out.data(), kSizeBytes, nullptr, nonce.data(),
                                                     bytes_of(seal.keys.out));
  seal.out_size = kHeader + size;
  seal.sent = 0;
  if (const auto flushed = flush(); !flushed) return tl::unexpected(flushed.error());
  return size;
}

// Reads what has come of the next record, and opens it once it is complete.
Result<void> Stream::read_record() {
  Sealing& seal = *sealing_;
  seal.plain = seal.given = 0;
  std::size_t whole = kHeader;
  while (true) {
    if (seal.got >= kHeader) {
      const std::size_t size = seal.in_size();
      if (size == 0 || size > kMostPlain) return failure("it sent data that is not sealed");
      whole = kHeader + size;
    }
    if (seal.got == whole && whole > kHeader) break;
    const auto got = bytes_received(::recv(number(), seal.in.data() + seal.got, whole - seal.got, 0));
    if (!got) return tl::unexpected(got.error());
    if (*got == 0) return {};
    seal.got += *got;
  }
  unsigned char* const text = seal.in.data() + kHeader;
  const std::size_t size = whole - kHeader;
  const Nonce nonce = nonce_of(seal.records_in++);
  const int opened = crypto_aead_chacha20poly1305_ietf_decrypt_detached(
      text, nullptr, text, size, seal.in.data() + kSizeBytes, seal.in.data(), kSizeBytes, nonce.data(),
      bytes_of(seal.keys.in));
  if (opened != 0)
    return failure("it sent data that is not sealed with this job's key or was changed on its way");
  seal.plain = size;
  seal.got = 0;
  return {};
}

Result<std::size_t> Stream::receive(std::span<const iovec> into) {
  if (sealing_ == nullptr) {
    msghdr message = message_of(into);
    return bytes_received(::recvmsg(number(), &message, 0));
  }
  if (!holds()) {
    if (const auto read = read_record(); !read) return tl::unexpected(read.error());
  }
  Sealing& seal = *sealing_;
  std::size_t size = 0;
  for (const iovec& vector : into) {
    const std::size_t part = std::min(vector.iov_len, seal.plain - seal.given);
    if (part == 0) continue;
    std::memcpy(vector.iov_base, seal.in.data() + kHeader + seal.given, part);
    seal.given += part;
    size += part;
  }
  return size;
}

}  // namespace weir::real
