#include "studies/bench/transports.h"

#include <utility>
#include <vector>

#include "studies/bench/median.h"

namespace weir {
namespace {

template <class Rate>
BytesPerSecond middle(const std::vector<Rate>& rates, BytesPerSecond Rate::*member) {
  std::vector<BytesPerSecond> values;
  for (const Rate& rate : rates) values.push_back(rate.*member);
  return median(values);
}

template <class Rate>
double share_of(const std::vector<Rate>& rates, BytesPerSecond Rate::*of) {
  std::vector<double> values;
  for (const Rate& rate : rates)
    values.push_back(static_cast<double>(rate.nodes.value()) / static_cast<double>((rate.*of).value()));
  return median(values);
}

template <class Rate>
ComparedRate plain(const std::vector<Rate>& rates, BytesPerSecond Rate::*member) {
  return {middle(rates, member), share_of(rates, member)};
}

template <class Rate>
Result<std::vector<Rate>> repeat(const real::TransportSettings& settings, int repetitions,
                                 Result<Rate> (*measure)(const real::TransportSettings&)) {
  std::vector<Rate> rates;
  for (int i = 0; i < repetitions; ++i) {
    auto rate = measure(settings);
    if (!rate) return tl::unexpected(rate.error());
    rates.push_back(std::move(*rate));
  }
  return rates;
}

}  // namespace

Result<SocketRates> socket_rates(const real::TransportSettings& settings, int repetitions) {
  using Rate = real::TransportRate;
  const auto rates = repeat<Rate>(settings, repetitions, real::measure_transport);
  if (!rates) return tl::unexpected(rates.error());
  return SocketRates{middle(*rates, &Rate::nodes), plain(*rates, &Rate::sockets),
                     plain(*rates, &Rate::spread), plain(*rates, &Rate::copies)};
}

Result<WriteRates> write_rates(const real::TransportSettings& settings, int repetitions) {
  using Rate = real::RdmaRate;
  const auto rates = repeat<Rate>(settings, repetitions, real::measure_rdma);
  if (!rates) return tl::unexpected(rates.error());
  WriteRates all{middle(*rates, &Rate::nodes), plain(*rates, &Rate::writes), 0, {}};
  for (const Rate& rate : *rates) {
    all.registrations += rate.registrations;
    all.copied += rate.copied;
  }
  return all;
}

}  // namespace weir
