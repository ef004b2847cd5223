// Measurements of benchmarks as rows of tables and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "studies/bench/collectives.h"
#include "studies/bench/transports.h"

namespace weir {

std::vector<std::string> cells_of(Bytes gradients, const CollectiveTimes& measured);
nlohmann::ordered_json fields_of(Bytes gradients, const CollectiveTimes& measured);

std::vector<std::string> cells_of(Bytes message, const SocketRates& rates);
nlohmann::ordered_json fields_of(Bytes message, const SocketRates& rates);

std::vector<std::string> cells_of(Bytes message, const WriteRates& rates);
nlohmann::ordered_json fields_of(Bytes message, const WriteRates& rates);

}  // namespace weir
