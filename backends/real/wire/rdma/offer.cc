#include "backends/real/wire/rdma/offer.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/document/document.h"
#include "core/document/read_fields.h"
#include "core/document/write_fields.h"

namespace weir::real::rdma {
namespace {

constexpr std::size_t kPrefix = 4;
constexpr std::size_t kMost = std::size_t{64} << 20;

}  // namespace

template <class Visitor>
void fields(Visitor& visitor, Landing& landing) {
  visitor.required("address", landing.address, "where the memory begins");
  visitor.required("keys", landing.keys, "the keys of its regions");
}

namespace {

// An offer in the form in which it is sent.
struct Text {
  std::string refusal;
  std::uint32_t number = 0;
  std::uint32_t first_packet = 0;
  std::uint16_t lid = 0;
  std::vector<std::uint8_t> gid;
  int mtu = 0;
  bool ethernet = false;
  std::vector<Landing> landings;
};

template <class Visitor>
void fields(Visitor& visitor, Text& text) {
  visitor.required("refusal", text.refusal, "why there is no RDMA");
  visitor.required("number", text.number, "the queue pair's number", within(0, 0xffffff));
  visitor.required("first_packet", text.first_packet, "the number of its first packet", within(0, 0xffffff));
  visitor.required("lid", text.lid, "the port's LID");
  visitor.required("gid", text.gid, "the bytes of the port's GID");
  visitor.required("mtu", text.mtu, "the port's MTU, as verbs number it", within(IBV_MTU_256, IBV_MTU_4096));
  visitor.required("ethernet", text.ethernet, "whether the port is Ethernet");
  visitor.required("landings", text.landings, "where messages land");
}

}  // namespace

std::vector<std::byte> encode(const Offer& offer) {
  const Endpoint& end = offer.end;
  const Text content = {
      offer.refusal, end.number,   end.first_packet, end.lid, {end.gid.begin(), end.gid.end()},
      end.mtu,       end.ethernet, offer.landings};
  // The refusal may quote a driver's message, which may contain any bytes.
  const std::string text = json_text(write_fields(content));
  std::vector<std::byte> bytes(kPrefix + text.size());
  for (std::size_t i = 0; i < kPrefix; ++i) bytes[i] = static_cast<std::byte>(text.size() >> (8 * i));
  std::transform(text.begin(), text.end(), bytes.begin() + kPrefix,
                 [](char c) { return static_cast<std::byte>(c); });
  return bytes;
}

Result<std::span<std::byte>> OfferReader::room() {
  if (bytes_.empty()) bytes_.resize(kPrefix);
  if (got_ == kPrefix && bytes_.size() == kPrefix) {
    std::size_t size = 0;
    for (std::size_t i = 0; i < kPrefix; ++i) size |= std::to_integer<std::size_t>(bytes_[i]) << (8 * i);
    if (size == 0 || size > kMost) return failure("it sent something other than an RDMA offer");
    bytes_.resize(kPrefix + size);
  }
  return std::span(bytes_).subspan(got_);
}

bool OfferReader::whole() const { return bytes_.size() > kPrefix && got_ == bytes_.size(); }

Result<Offer> OfferReader::offer() const {
  const auto* const characters = reinterpret_cast<const char*>(bytes_.data() + kPrefix);
  const auto document = parse_document(std::string(characters, bytes_.size() - kPrefix), "its RDMA offer");
  if (!document) return tl::unexpected(document.error());
  auto text = read_fields<Text>(*document);
  if (!text) return tl::unexpected(text.error());
  GidBytes gid{};
  if (text->gid.size() != gid.size())
    return failure(fmt::format("its RDMA offer: gid: expected {} bytes", gid.size()));
  std::copy(text->gid.begin(), text->gid.end(), gid.begin());
  return Offer{
      std::move(text->refusal),
      {text->number, text->first_packet, text->lid, gid, static_cast<ibv_mtu>(text->mtu), text->ethernet},
      std::move(text->landings)};
}

}  // namespace weir::real::rdma
