// The bytes of one connection: as they are, or sealed so that nobody on the way reads or changes them.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <memory>
#include <span>

#include "backends/real/process/descriptor.h"
#include "core/base/result.h"

namespace weir::real {

using Secret = std::array<std::byte, 32>;

/// Of a connection; each seals one direction of one connection, never more.
struct SealKeys {
  Secret out;
  Secret in;
};

/// Sealed, the bytes go in records of up to 64 KiB: size, tag and ciphertext of ChaCha20-Poly1305 (RFC 8439,
/// by libsodium), whose nonce is the record's number in its direction. So a record that was changed, left
/// out, repeated or put elsewhere is found out. The size can be seen, and is sealed against changes.
///
/// Owned by one thread; never blocks; may change hands. Errors are of a lost connection, and of bytes that
/// are not sealed as they should be.
class Stream {
 public:
  Stream();
  explicit Stream(Descriptor connection);
  Stream(Stream&& other) noexcept;
  Stream& operator=(Stream&& other) noexcept;
  ~Stream();

  /// Seals all that moves from now on.
  void seal(const SealKeys& keys);

  int number() const { return connection_.number(); }
  bool valid() const { return connection_.valid(); }

  /// How many of the bytes it has taken, from the first on; 0 if it takes none now.
  Result<std::size_t> send(std::span<const iovec> bytes);
  /// How many bytes have come and been written into the places, from the first on; 0 if none has come.
  Result<std::size_t> receive(std::span<const iovec> into);

  /// Writes what it has taken and could not write.
  Result<void> flush();
  /// Whether there is such.
  bool pending() const;
  /// Whether bytes have come that receive() will give without a look at the connection.
  bool holds() const;

 private:
  struct Sealing;

  Result<void> read_record();

  Descriptor connection_;
  std::unique_ptr<Sealing> sealing_;
};

}  // namespace weir::real
