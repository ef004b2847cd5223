#include "backends/real/job/key.h"

#include <sodium.h>
#include <zmq.h>

#include <array>
#include <nlohmann/json.hpp>

#include "core/document/document.h"
#include "core/document/read_fields.h"
#include "core/document/write_fields.h"

namespace weir::real {
namespace {

constexpr std::size_t kKeyText = 41;  // with the terminating zero

struct Pair {
  std::array<char, kKeyText> open{};
  std::array<char, kKeyText> secret{};
};

Result<Pair> make_pair() {
  Pair pair;
  if (zmq_curve_keypair(pair.open.data(), pair.secret.data()) != 0) {
    return failure(
        "this ZeroMQ was built without CURVE (libsodium), which protects a job; install one that has it");
  }
  return pair;
}

// Derives the secret half from `secret` for this purpose, so only those who know `secret` can derive it.
Result<Pair> derive_pair(const Token& secret, const std::string& purpose) {
  std::array<std::uint8_t, crypto_generichash_BYTES> half{};
  static_assert(half.size() == 32 && sizeof secret == crypto_generichash_KEYBYTES);
  crypto_generichash(half.data(), half.size(), reinterpret_cast<const unsigned char*>(purpose.data()),
                     purpose.size(), reinterpret_cast<const unsigned char*>(secret.data()), secret.size());
  Pair pair;
  zmq_z85_encode(pair.secret.data(), half.data(), half.size());
  if (zmq_curve_public(pair.open.data(), pair.secret.data()) != 0) return make_pair();  // it says why
  return pair;
}

}  // namespace

template <class Visitor>
void fields(Visitor& visitor, JobKey& key) {
  visitor.required("job", key.job, "the job's name");
  visitor.required("endpoint", key.endpoint, "where the coordinator listens");
  visitor.required("server_public", key.server_public, "the coordinator's public key");
  visitor.required("member_public", key.member_public, "the machines' public key");
  visitor.required("member_secret", key.member_secret, "the machines' secret key");
}

Result<FreshKey> make_key(const std::string& job, const std::string& endpoint) {
  const auto server = make_pair();
  if (!server) return tl::unexpected(server.error());
  const auto member = make_pair();
  if (!member) return tl::unexpected(member.error());
  return FreshKey{{job, endpoint, server->open.data(), member->open.data(), member->secret.data()},
                  server->secret.data()};
}

Result<FreshKey> derive_key(const Token& secret, const std::string& job, const std::string& endpoint) {
  const auto server = derive_pair(secret, "coordinator");
  if (!server) return tl::unexpected(server.error());
  const auto member = derive_pair(secret, "machine");
  if (!member) return tl::unexpected(member.error());
  return FreshKey{{job, endpoint, server->open.data(), member->open.data(), member->secret.data()},
                  server->secret.data()};
}

std::string text(const JobKey& key) { return write_fields(key).dump(); }

Result<JobKey> parse_key(const std::string& text, const std::string& file) {
  const auto document = parse_document(text, file);
  if (!document) return tl::unexpected(document.error());
  auto key = read_fields<JobKey>(*document);
  if (!key) return key;
  for (const std::string* one : {&key->server_public, &key->member_public, &key->member_secret}) {
    if (one->size() + 1 != kKeyText) return failure(file + ": a key of the job is not 40 characters long");
  }
  return key;
}

}  // namespace weir::real
