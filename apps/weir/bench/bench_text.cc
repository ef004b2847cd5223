#include "apps/weir/bench/bench_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/base/units_text.h"

namespace weir {
namespace {

std::string tenths_of_percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

}  // namespace

std::vector<std::string> cells_of(Bytes gradients, const CollectiveTimes& measured) {
  return {rounded(gradients),
          rounded(measured.time),
          rounded(measured.algorithm),
          rounded(measured.bus),
          rounded(measured.moved),
          rounded(measured.plain),
          tenths_of_percent(measured.share())};
}

nlohmann::ordered_json fields_of(Bytes gradients, const CollectiveTimes& measured) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Duration time : measured.all) all.push_back(time.seconds());
  return {{"bytes", gradients.count()},
          {"seconds", measured.time.seconds()},
          {"algorithm_bytes_per_s", measured.algorithm.value()},
          {"bus_bytes_per_s", measured.bus.value()},
          {"moved_bytes_per_s", measured.moved.value()},
          {"plain_bytes_per_s", measured.plain.value()},
          {"share", measured.share()},
          {"settings", measured.settings},
          {"iterations_s", all}};
}

std::vector<std::string> cells_of(Bytes message, const SocketRates& rates) {
  return {rounded(message),
          rounded(rates.nodes),
          rounded(rates.sockets.rate),
          tenths_of_percent(rates.sockets.share),
          rounded(rates.spread.rate),
          tenths_of_percent(rates.spread.share),
          rounded(rates.copies.rate),
          tenths_of_percent(rates.copies.share)};
}

nlohmann::ordered_json fields_of(Bytes message, const SocketRates& rates) {
  return {{"message_bytes", message.count()},
          {"nodes_bytes_per_s", rates.nodes.value()},
          {"sockets_bytes_per_s", rates.sockets.rate.value()},
          {"share", rates.sockets.share},
          {"spread_sockets_bytes_per_s", rates.spread.rate.value()},
          {"share_of_spread_sockets", rates.spread.share},
          {"copies_bytes_per_s", rates.copies.rate.value()},
          {"share_of_copies", rates.copies.share}};
}

std::vector<std::string> cells_of(Bytes message, const WriteRates& rates) {
  return {rounded(message),
          rounded(rates.nodes),
          rounded(rates.writes.rate),
          tenths_of_percent(rates.writes.share),
          std::to_string(rates.registrations),
          rounded(rates.copied)};
}

nlohmann::ordered_json fields_of(Bytes message, const WriteRates& rates) {
  return {{"message_bytes", message.count()},
          {"nodes_bytes_per_s", rates.nodes.value()},
          {"writes_bytes_per_s", rates.writes.rate.value()},
          {"share", rates.writes.share},
          {"registrations", rates.registrations},
          {"copied_bytes", rates.copied.count()}};
}

}  // namespace weir
