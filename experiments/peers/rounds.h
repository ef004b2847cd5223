// What is alike for all peers: gradients whose sum is known, rounds that are timed, and the JSON that says
// what came of them.
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace peers {

struct Choices {
  std::size_t bytes = 0;  // of the gradients, of which each process has as many
  int rounds = 5;
  int warm_up = 1;
};

inline void add_choices(CLI::App& app, Choices& choices) {
  app.add_option("--bytes", choices.bytes, "Size of the gradients (f32)")
      ->required()
      ->check(CLI::PositiveNumber);
  app.add_option("--rounds", choices.rounds, "Rounds that are timed")->check(CLI::PositiveNumber);
  app.add_option("--warm-up", choices.warm_up, "Rounds before the timed ones")->check(CLI::NonNegativeNumber);
}

/// How processes do together what a round takes.
struct Group {
  int rank = 0;
  int size = 1;
  std::function<void()> barrier;
  std::function<void(std::vector<float>&)> sum;  // in place, over all processes: what is measured
  std::function<double(double)> largest;         // of all processes' values
  /// Where sums are made elsewhere: take the gradients there before a round, and fetch them after it.
  std::function<void(const std::vector<float>&)> load;
  std::function<void(std::vector<float>&)> fetch;
};

/// Small whole numbers, which differ by process and element; their sums are exact.
inline float gradient(std::size_t element, int rank) {
  return static_cast<float>(element % 61) + static_cast<float>(rank);
}

inline float total(std::size_t element, int processes) {
  const auto count = static_cast<float>(processes);
  return count * static_cast<float>(element % 61) + count * (count - 1) / 2;
}

/// Runs the rounds. Each begins after a barrier and takes as long as for the slowest process; every element
/// of every round is checked. The first process prints what came of it. Returns the exit status.
inline int run(const Choices& choices, const Group& group, nlohmann::ordered_json report) {
  using Clock = std::chrono::steady_clock;
  std::vector<float> gradients(choices.bytes / sizeof(float));
  std::vector<double> seconds;
  double wrong = 0;
  for (int round = -choices.warm_up; round < choices.rounds; ++round) {
    for (std::size_t i = 0; i < gradients.size(); ++i) gradients[i] = gradient(i, group.rank);
    if (group.load) group.load(gradients);
    group.barrier();
    const auto begin = Clock::now();
    group.sum(gradients);
    const std::chrono::duration<double> taken = Clock::now() - begin;
    const double slowest = group.largest(taken.count());
    if (round >= 0) seconds.push_back(slowest);
    if (group.fetch) group.fetch(gradients);
    for (std::size_t i = 0; i < gradients.size(); ++i)
      wrong += gradients[i] == total(i, group.size) ? 0.0 : 1.0;
  }
  wrong = group.largest(wrong);
  if (group.rank == 0) {
    report["processes"] = group.size;
    report["bytes"] = gradients.size() * sizeof(float);
    report["seconds"] = seconds;
    report["sums_are_right"] = wrong == 0;
    std::printf("%s\n", report.dump().c_str());
    std::fflush(stdout);
  }
  return wrong == 0 ? 0 : 1;
}

}  // namespace peers
