#include "core/formats/nccl/nccl_tests.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "core/document/number_in.h"

namespace weir::nccl {
namespace {

constexpr double kMicrosecond = 1e-6;

struct Name {
  Test test;
  std::string_view program;
};
constexpr std::array<Name, 6> kNames = {{{Test::kAllReduce, "all_reduce"},
                                         {Test::kReduceScatter, "reduce_scatter"},
                                         {Test::kAllGather, "all_gather"},
                                         {Test::kReduce, "reduce"},
                                         {Test::kBroadcast, "broadcast"},
                                         {Test::kSendReceive, "sendrecv"}}};

// The test of a program such as "/opt/nccl-tests/build/all_reduce_perf".
std::optional<Test> test_of(std::string_view program) {
  program = program.substr(program.rfind('/') + 1);
  program = program.substr(0, program.rfind("_perf"));
  for (const Name& name : kNames) {
    if (program == name.program) return name.test;
  }
  return std::nullopt;
}

std::vector<std::string> words(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> all;
  for (std::string word; stream >> word;) all.push_back(word);
  return all;
}

std::optional<double> number(const std::string& word) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

// Without the escape sequences of a terminal, such as "ESC[32m".
std::string without_colours(const std::string& line) {
  constexpr char kEscape = '\x1b';
  std::string plain;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != kEscape) {
      plain += line[i];
      continue;
    }
    if (i + 1 < line.size() && line[i + 1] == '[') ++i;
    const auto ends = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); };
    while (i + 1 < line.size() && !ends(line[i + 1])) ++i;
    ++i;  // past the letter that ends the sequence
  }
  return plain;
}

// "1048576" of "[1,0]<stdout>:1048576".
std::string trailing_digits(const std::string& word) {
  const std::size_t before = word.find_last_not_of("0123456789");
  return before == std::string::npos ? word : word.substr(before + 1);
}

bool is_type(std::string_view word) {
  constexpr std::array<std::string_view, 9> kTypes = {"float", "half", "double", "bfloat", "int",
                                                      "uint",  "char", "fp8",    "f8"};
  return std::ranges::any_of(kTypes, [&](std::string_view type) { return word.starts_with(type); });
}

// Where a row of the table begins: size, count, type. Launchers write other words before it:
// "[1,0]<stdout>:", "0:", a time, a host's name. The number of words if the line has no row.
std::size_t row_start(const std::vector<std::string>& all) {
  for (std::size_t i = 0; i + 8 <= all.size(); ++i) {
    const bool last = number(all[i]).has_value() ||
                      (all[i].find_first_of(":>]|") != std::string::npos && !trailing_digits(all[i]).empty());
    if (last && number(all[i + 1]) && is_type(all[i + 2])) return i;
  }
  return all.size();
}

bool is_time(double us) {
  constexpr double kLongest = 1e12;
  return us > 0 && us <= kLongest;
}

std::string not_a_time(double us) {
  return fmt::format("expected a time in microseconds above 0, up to 1e12, not {}", us);
}

// Guesses the test from the ratio of bus to algorithm bandwidth (rounded in tables) and whether it reduces.
Test guess(double ratio, int ranks, bool reduces) {
  const double shared = bus_factor(Test::kAllGather, ranks);
  const double twice = bus_factor(Test::kAllReduce, ranks);
  const auto off = [&](double factor) { return std::abs(ratio - factor); };
  if (reduces && off(twice) <= off(shared) && off(twice) <= off(1.0)) return Test::kAllReduce;
  if (off(shared) < off(1.0)) return reduces ? Test::kReduceScatter : Test::kAllGather;
  return reduces ? Test::kReduce : Test::kBroadcast;
}

/// Reads a table line by line.
class Table {
 public:
  explicit Table(std::string file) : file_(std::move(file)) {}

  Result<void> take(const std::string& line, int at) {
    const std::vector<std::string> all = words(without_colours(line));
    if (all.empty()) return {};
    const std::size_t start = row_start(all);
    if (start < all.size()) {
      if (start > 0 && all[start - 1].ends_with('#')) return {};
      std::vector<std::string> own(all.begin() + static_cast<std::ptrdiff_t>(start), all.end());
      if (!number(own.front())) own.front() = trailing_digits(own.front());
      return row(own, at);
    }
    comment(all);
    if (all.front().starts_with('#') || all.size() < 8 || !number(all.front()))
      return {};  // output of the program that started the test
    return row(all, at);
  }

  Result<Tested> tested() {
    const auto wrong = [&](const std::string& text) { return failure(file_ + ": " + text); };
    if (tested_.times.empty())
      return wrong("there is no line with a size and times; expected nccl-tests' table");
    if (tested_.ranks == 0)
      return wrong("there is no line '# Rank 0 ... on HOST device 0' for the GPUs that took part");
    if (most_alike_ > 1) {
      return wrong(fmt::format(
          "{}there are {} tables with the same ranks; expected one table a file. If one call of mpirun "
          "printed "
          "them, nccl-tests is built without MPI, so each process measured its own GPUs: build it with MPI=1",
          tested_.ranks == 1 ? "only one GPU took part; " : "", most_alike_));
    }
    if (tested_.ranks == 1) return wrong("only one GPU took part; expected at least two");
    tested_.hosts = static_cast<int>(hosts_.size());
    tested_.test = named_ ? *named_ : guess(ratio_, tested_.ranks, reduces_);
    return tested_;
  }

 private:
  // Lines other than rows, with or without the '#' that web pages remove.
  void comment(const std::vector<std::string>& all) {
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
      if (all[i] == "Rank" && number(all[i + 1])) take_rank(all, i);
      if (all[i] == "i_min" || all[i + 1] == "i_min") stride_ = 8;  // times of each call too
      const bool names = all[i] == "Collective" && i + 3 < all.size() && all[i + 2] == "starting:";
      if (names) named_ = test_of(all[i + 3]);
    }
  }

  // "#  Rank  0 Group  0 Pid   6899 on host-1 device  0 [0000:04:00] NVIDIA H100"
  void take_rank(const std::vector<std::string>& all, std::size_t at) {
    for (std::size_t i = at + 2; i + 2 < all.size(); ++i) {
      if (all[i] != "on" || all[i + 2] != "device") continue;
      hosts_.insert(all[i + 1]);
      const int alike = ++seen_[all[at + 1]];
      if (alike == 1) ++tested_.ranks;
      most_alike_ = std::max(most_alike_, alike);
      return;
    }
  }

  // size count type redop root time algbw busbw #wrong [time algbw busbw #wrong]; old tables have no root.
  // Times begin after the columns that describe the call, at the first four consecutive numbers or "N/A".
  Result<void> row(const std::vector<std::string>& all, int at) {
    const auto bad = [&] {
      return failure(
          fmt::format("{}:{}: expected size, count, type, operation, root, time, algbw, busbw, #wrong, "
                      "as nccl-tests print them",
                      file_, at));
    };
    const auto size = number(all[0]);
    std::size_t first = 2;  // past size and count
    while (first < all.size() && !number(all[first])) ++first;
    const std::size_t left = all.size() - std::min(first, all.size());
    if (left % 4 == 1 || left % 4 == 3) ++first;  // the root; after the times there may be a time of day
    if (!size || *size < 0 || *size > 1e15 || first + 4 > all.size()) return bad();
    reduces_ = all.size() > 3 && all[3] != "none" && !all[3].empty();
    for (; first + 3 < all.size(); first += stride_) {
      const auto time = number(all[first]);
      const auto algorithm = number(all[first + 1]);
      const auto bus = number(all[first + 2]);
      if (!time || !algorithm || !bus) return bad();
      if (*size == 0) continue;
      if (!is_time(*time)) return failure(fmt::format("{}:{}: {}", file_, at, not_a_time(*time)));
      // Old tables show the largest deviation of an element here: far below 1, or not a number if wrong.
      const std::string& wrong = all[first + 3];
      if (wrong != "N/A" && number(wrong).value_or(1) >= 1)
        return failure(fmt::format("{}:{}: {} elements were wrong (#wrong)", file_, at, wrong));
      tested_.times.push_back({Bytes(std::llround(*size)), *time * kMicrosecond});
      if (*algorithm > most_) {  // the one that rounding changes least
        most_ = *algorithm;
        ratio_ = *bus / *algorithm;
      }
    }
    return {};
  }

  std::string file_;
  Tested tested_;
  std::set<std::string> hosts_;
  std::map<std::string, int> seen_;  // how many lines name the rank
  int most_alike_ = 0;
  std::optional<Test> named_;
  bool reduces_ = true;
  std::size_t stride_ = 4;
  double most_ = 0.0;
  double ratio_ = 1.0;
};

// How many GPUs each process has. Devices are listed once for each process.
int gpus_of_process(const Value& config) {
  const double gpus = number_in(config, "ngpus").value_or(1) * number_in(config, "nthreads").value_or(1);
  return gpus >= 1 && gpus <= 1024 ? static_cast<int>(gpus) : 1;
}

}  // namespace

double bus_factor(Test test, int ranks) {
  const double others = static_cast<double>(ranks - 1) / ranks;
  switch (test) {
    case Test::kAllReduce:
      return 2 * others;
    case Test::kReduceScatter:
    case Test::kAllGather:
      return others;
    case Test::kReduce:
    case Test::kBroadcast:
    case Test::kSendReceive:
      return 1.0;
  }
  return 1.0;
}

Bytes passed_at_once(Test test, int ranks, Bytes size) {
  const bool shared = test == Test::kAllReduce || test == Test::kReduceScatter || test == Test::kAllGather;
  return shared ? size / ranks : size;
}

bool is_nccl_tests(std::string_view text) {
  return text.find("# nThread") != std::string_view::npos || text.find("algbw") != std::string_view::npos;
}

Result<Tested> read_nccl_tests(const std::string& text, const std::string& file) {
  Table table(file);
  std::istringstream lines(text);
  int at = 0;
  for (std::string line; std::getline(lines, line);) {
    if (const auto taken = table.take(line, ++at); !taken) return tl::unexpected(taken.error());
  }
  return table.tested();
}

bool is_nccl_tests(const Value& document) {
  return document.find("results") != nullptr && document.find("nccl_version") != nullptr;
}

Result<Tested> read_nccl_tests(const Value& document) {
  const auto wrong = [&](const Value& at, std::string_view path, std::string_view text) {
    return failure(complaint(at, path, text));
  };
  Tested tested;
  const Value* args = document.find("args");
  const bool named = args != nullptr && args->is(Value::Kind::kArray) && !args->elements().empty() &&
                     args->elements()[0].is(Value::Kind::kString);
  const auto test = named ? test_of(args->elements()[0].as_string()) : std::nullopt;
  if (!test)
    return wrong(args != nullptr ? *args : document, "args",
                 "expected the name of the program first, such as all_reduce_perf");
  tested.test = *test;
  const Value* config = document.find("config");
  const Value* devices = config == nullptr ? nullptr : config->find("devices");
  if (devices == nullptr || !devices->is(Value::Kind::kArray))
    return wrong(config != nullptr ? *config : document, "config.devices",
                 "expected the list of GPUs that took part");
  std::set<std::string> hosts;
  for (const Value& device : devices->elements()) {
    const Value* host = device.find("hostname");
    if (host != nullptr && host->is(Value::Kind::kString)) hosts.insert(host->as_string());
    tested.ranks += gpus_of_process(*config);
  }
  tested.hosts = static_cast<int>(hosts.size());
  if (tested.ranks < 2 || tested.hosts == 0)
    return wrong(*devices, "config.devices", "expected at least two GPUs, each with its hostname");
  const Value& results = *document.find("results");
  if (!results.is(Value::Kind::kArray))
    return wrong(results, "results", "expected an array, not " + description(results));
  std::size_t index = 0;
  for (const Value& result : results.elements()) {
    const auto size = number_in(result, "size");
    if (!size || *size < 0 || *size > 1e15)
      return wrong(result, joined("results", index), "expected 'size', a number of bytes");
    for (const char* place : {"out_of_place", "in_place"}) {
      const Value* body = result.find(place);
      const auto time = body == nullptr ? std::nullopt : number_in(*body, "time");
      if (!time || *size == 0) continue;
      const std::string path = joined("results", index) + "." + place;
      if (!is_time(*time)) return wrong(*body, path + ".time", not_a_time(*time));
      if (const double elements = number_in(*body, "nwrong").value_or(0); elements > 0)
        return wrong(*body, path + ".nwrong", fmt::format("{} elements were wrong", elements));
      tested.times.push_back({Bytes(std::llround(*size)), *time * kMicrosecond});
    }
    ++index;
  }
  if (tested.times.empty()) return wrong(results, "results", "no result has a 'time'");
  return tested;
}

}  // namespace weir::nccl
