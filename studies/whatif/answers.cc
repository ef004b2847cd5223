#include "studies/whatif/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace weir {
namespace {

std::optional<std::int64_t> value(const std::optional<BytesPerSecond>& rate) {
  return rate ? std::optional(rate->value()) : std::nullopt;
}

constexpr double kSame = 0.0005;  // a difference invisible at a tenth of a percent

bool shorter(const Answer& a, const Answer& b) { return a.iteration_ns < b.iteration_ns; }

// Whole percents, or tenths if small.
std::string short_percent(double fraction) {
  const double number = 100 * std::abs(fraction);
  return number < 9.95 ? fmt::format("{:.1f} %", number) : fmt::format("{:.0f} %", number);
}

std::string more_or_less(double ratio) {
  if (std::abs(ratio - 1) < kSame) return "the same";
  return fmt::format("{} {}", short_percent(ratio - 1), ratio < 1 ? "less" : "more");
}

std::string machines(std::int64_t count) {
  return fmt::format("{} CPU machine{}", count == 0 ? "no" : std::to_string(count), count == 1 ? "" : "s");
}

struct Chosen {
  const Series* series = nullptr;
  std::size_t index = 0;
  const Answer& answer() const { return series->answers[index]; }
};

Chosen choose(const std::vector<Series>& all) {
  std::int64_t best = 0;
  for (const Series& series : all) {
    for (const Answer& answer : series.answers) {
      if (best == 0 || answer.iteration_ns < best) best = answer.iteration_ns;
    }
  }
  Chosen chosen;
  for (const Series& series : all) {
    for (std::size_t i = 0; i < series.answers.size(); ++i) {
      const Answer& answer = series.answers[i];
      if (static_cast<double>(answer.iteration_ns) > static_cast<double>(best) * (1 + kKnee)) continue;
      const bool fewer = chosen.series == nullptr || answer.cpu_machines < chosen.answer().cpu_machines;
      if (fewer) chosen = {&series, i};
    }
  }
  return chosen;
}

// Its cost compared with the fewest CPU machines.
std::string more_money(const Answer& first, const Answer& chosen) {
  if (!chosen.cost_per_iteration || !first.cost_per_iteration || *first.cost_per_iteration == 0) return {};
  return fmt::format(" for {} money an hour, {} an iteration",
                     more_or_less(*chosen.price_per_hour / *first.price_per_hour),
                     more_or_less(*chosen.cost_per_iteration / *first.cost_per_iteration));
}

// The effect of more CPU machines.
std::string beyond(const Series& series, std::size_t index, const MoreHelps& more_helps) {
  const std::vector<Answer>& answers = series.answers;
  const Answer& last = answers.back();
  if (more_helps(series.scenario, last.cpu_machines)) {
    return fmt::format("; {} still binds, so try more than {}", without_number(last.binding),
                       last.cpu_machines);
  }
  const bool end = index + 1 == answers.size();
  if (end) return fmt::format("; {} binds then", without_number(last.binding));
  return fmt::format("; beyond that {} binds", without_number(answers[index + 1].binding));
}

// Where money is best spent, if not there.
std::string thrift(const std::vector<Answer>& answers, std::size_t index) {
  for (const Answer& answer : answers) {
    if (!answer.cheapest || answer.cpu_machines == answers[index].cpu_machines) continue;
    return fmt::format("; an iteration costs least with {}", machines(answer.cpu_machines));
  }
  return {};
}

}  // namespace

Answer answer_of(const Scenario& scenario, int count, const Row& row, std::optional<double> price_an_hour) {
  Answer answer;
  answer.strategy = scenario.strategy;
  answer.gpu_nic_bytes_per_s = value(scenario.gpu_nic);
  answer.cpu_nic_bytes_per_s = value(scenario.cpu_nic);
  if (scenario.local) answer.local = enum_name(*scenario.local);
  answer.gpu_machines = row.gpu_machines;
  answer.cpu_machines = count;
  answer.iteration_ns = row.iteration_ns;
  answer.binding = row.binding;
  answer.label = row.label;
  answer.label_reason = row.label_reason;
  answer.samples_per_s = row.samples_per_s;
  answer.price_per_hour = price_an_hour;
  if (!price_an_hour) return answer;
  constexpr double kSecondsAnHour = 3600;
  const double a_second = *price_an_hour / kSecondsAnHour;
  answer.cost_per_iteration = a_second * Duration(row.iteration_ns).seconds();
  if (row.samples_per_s > 0) answer.cost_per_1000_samples = 1000 * a_second / row.samples_per_s;
  return answer;
}

void compare(std::vector<Answer>& answers) {
  if (answers.empty()) return;
  const Answer first = answers.front();
  const auto best =
      static_cast<double>(std::min_element(answers.begin(), answers.end(), shorter)->iteration_ns);
  std::find_if(answers.begin(), answers.end(), [best](const Answer& answer) {
    return static_cast<double>(answer.iteration_ns) <= best * (1 + kKnee);
  })->knee = true;
  for (Answer& answer : answers) {
    if (answer.iteration_ns > 0) {
      answer.speedup = static_cast<double>(first.iteration_ns) / static_cast<double>(answer.iteration_ns);
    }
    if (answer.cost_per_iteration && first.cost_per_iteration && *first.cost_per_iteration > 0) {
      answer.saving_percent = 100 * (1 - *answer.cost_per_iteration / *first.cost_per_iteration);
    }
  }
  const auto cheaper = [](const Answer& a, const Answer& b) {
    return a.cost_per_iteration.value_or(HUGE_VAL) < b.cost_per_iteration.value_or(HUGE_VAL);
  };
  const auto cheapest = std::min_element(answers.begin(), answers.end(), cheaper);
  cheapest->cheapest = cheapest->cost_per_iteration.has_value();
}

std::string without_number(const std::string& binding) {
  const std::size_t begin = binding.find('[');
  const std::size_t end = binding.find(']');
  if (begin == std::string::npos || end == std::string::npos) return binding;
  return binding.substr(0, begin) + binding.substr(end + 1);
}

std::string advice(const std::vector<Series>& series, const MoreHelps& more_helps) {
  const Chosen chosen = choose(series);
  WEIR_CHECK(chosen.series != nullptr);
  const std::vector<Answer>& answers = chosen.series->answers;
  const Answer& first = answers.front();
  const Answer& answer = chosen.answer();
  const std::string how =
      series.size() > 1 ? fmt::format("Take {}", weir::text(chosen.series->scenario)) : std::string();
  if (answers.size() == 1) {
    return fmt::format("{} {}: {} binds.", how.empty() ? "With" : how + ", with",
                       machines(answer.cpu_machines), without_number(answer.binding));
  }
  const std::string add =
      fmt::format("{} {}", how.empty() ? "Add" : how + ", and add", machines(answer.cpu_machines));
  if (chosen.index > 0) {
    const std::string over =
        first.cpu_machines > 0 ? fmt::format(" rather than {}", first.cpu_machines) : std::string();
    return fmt::format("{}{}: {} faster{}{}{}.", add, over, short_percent(answer.speedup - 1),
                       more_money(first, answer), beyond(*chosen.series, chosen.index, more_helps),
                       thrift(answers, chosen.index));
  }
  const Answer& best = *std::min_element(answers.begin(), answers.end(), shorter);
  const std::string gain = best.speedup > 1 + kSame ? fmt::format("{} more make an iteration only {} faster",
                                                                  best.cpu_machines - first.cpu_machines,
                                                                  short_percent(best.speedup - 1))
                                                    : "more of them make no iteration faster";
  return fmt::format("{}: {}{}.", add, gain, beyond(*chosen.series, answers.size() - 1, more_helps));
}

}  // namespace weir
