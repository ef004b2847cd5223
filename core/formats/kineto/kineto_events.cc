#include "core/formats/kineto/kineto_events.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "core/document/spelling.h"
#include "core/formats/inflated.h"

namespace weir::kineto {
namespace {

constexpr std::size_t kDeepest = 1000;  // levels of nesting

/// The iterator through which the parser reads the file. The end is an iterator without a file.
class FileIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  explicit FileIterator(InflatedFile* file) : file_(file) {}
  char operator*() const { return file_->peek(); }
  FileIterator& operator++() {
    file_->next();
    return *this;
  }
  void operator++(int) { ++*this; }
  friend bool operator==(const FileIterator& a, const FileIterator& b) { return a.ended() == b.ended(); }

 private:
  bool ended() const { return file_ == nullptr || !file_->more(); }
  InflatedFile* file_;
};

/// Numbers texts in the order of their first occurrence.
class Names {
 public:
  explicit Names(std::vector<std::string>& names) : names_(names) {}
  int of(const std::string& text) {
    const auto [at, fresh] = numbers_.emplace(text, static_cast<int>(names_.size()));
    if (fresh) names_.push_back(text);
    return at->second;
  }

 private:
  std::vector<std::string>& names_;
  std::unordered_map<std::string, int> numbers_;
};

/// A number of the file.
struct Number {
  double value = std::numeric_limits<double>::quiet_NaN();
  std::int64_t whole = 0;       // rounded
  std::int64_t thousandth = 0;  // in thousandths, rounded: nanoseconds of a time in microseconds
};

// A double holds microseconds since 1970 to a quarter of a microsecond only, so digits are read one by one.
// A number with an exponent, or one that is too large for any use, is as exact as a double.
std::int64_t thousandths(double value, std::string_view text) {
  constexpr double kMost = 9e15;
  if (!(std::abs(value) < kMost)) return 0;
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  std::int64_t all = 0;
  int decimals = -1;  // read so far; -1: before the point
  for (const char c : text) {
    if (c == '.' && decimals < 0) {
      decimals = 0;
    } else if (c < '0' || c > '9') {
      return std::llround(value * 1e3);
    } else if (decimals < 3) {
      all = all * 10 + (c - '0');
      if (decimals >= 0) ++decimals;
    } else {
      if (c >= '5') ++all;
      break;
    }
  }
  for (int i = std::max(decimals, 0); i < 3; ++i) all *= 10;
  return negative ? -all : all;
}

/// The fields of one event, collected as the parser reads them.
struct Event {
  std::string phase, category, name, process, thread;
  Number begin;  // us
  Number duration;
  std::int64_t sequence = -1;
  std::int64_t correlation = -1;
  std::int64_t elements = -1;  // of a collective
  std::string collective;      // its name
  std::string dtype;
  GradientInput first;  // input
};

Bytes size_of_type(const std::string& type) {
  static const std::unordered_map<std::string, std::int64_t> sizes = {
      {"Float", 4},  {"float", 4},         {"Half", 2},   {"c10::Half", 2}, {"BFloat16", 2},
      {"Double", 8}, {"c10::BFloat16", 2}, {"double", 8}, {"Byte", 1},      {"Char", 1},
      {"Int", 4},    {"Long", 8},          {"int", 4},    {"long int", 8}};
  const auto found = sizes.find(type);
  return Bytes(found == sizes.end() ? 0 : found->second);
}

// Categories of events, in current and earlier versions of PyTorch.
bool is_op(std::string_view category) { return category == "cpu_op" || category == "Operator"; }

bool is_work(std::string_view category) {
  return category == "kernel" || category == "gpu_memcpy" || category == "gpu_memset" ||
         category == "Kernel" || category == "Memcpy" || category == "Memset";
}

bool is_launch(std::string_view category) {
  return category == "cuda_runtime" || category == "cuda_driver" || category == "hip_runtime" ||
         category == "Runtime";
}

// Examples: "cudaLaunchKernelExC", "cuLaunchCooperativeKernel", "hipExtModuleLaunchKernel", and
// "cudaGraphLaunch", whose kernels all have its correlation.
bool launches_kernels(std::string_view name) {
  const std::size_t launch = name.find("Launch");
  if (launch == std::string_view::npos) return false;
  return name.find("Kernel", launch) != std::string_view::npos || name.ends_with("GraphLaunch");
}

constexpr std::string_view kGloo = "gloo:";  // before the names of its collectives

bool starts(std::string_view text, std::string_view with) { return text.starts_with(with); }

/// Handles the parser's events. Each returns whether to go on. nlohmann prescribes the names.
class Reader {
 public:
  Reader(const InflatedFile& file, Recording& recording)
      : file_(file), recording_(recording), names_(recording.names), threads_(recording.threads) {}

  bool null() { return true; }
  bool boolean(bool /*value*/) { return true; }
  bool number_integer(std::int64_t value) {
    return number({static_cast<double>(value), value, thousands(value)});
  }
  bool number_unsigned(std::uint64_t value) {
    const auto whole = static_cast<std::int64_t>(value);
    return number({static_cast<double>(value), whole, thousands(whole)});
  }
  bool number_float(double value, const std::string& text) {
    return number({value, std::abs(value) < 1e18 ? std::llround(value) : 0, thousandths(value, text)});
  }
  bool string(std::string& value);
  bool binary(nlohmann::json::binary_t& /*value*/) { return fail("JSON has no binary values"); }
  bool start_object(std::size_t /*size*/) { return open('{'); }
  bool start_array(std::size_t /*size*/) { return open('['); }
  bool end_object();
  bool end_array() { return close(); }
  bool key(std::string& name) {
    if (keys_.size() < depth() + 1) keys_.resize(depth() + 1);
    keys_[depth()] = std::move(name);
    return true;
  }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::json::exception& cause) {
    if (!error.empty()) return false;
    const std::string_view text = cause.what();
    const std::size_t at = text.rfind("syntax error");
    return fail(fmt::format("this is not JSON: {}", at == text.npos ? text : text.substr(at)));
  }

  std::string error;
  bool events = false;  // whether there is a list of events

 private:
  std::size_t depth() const { return open_.size(); }
  bool in_event() const { return depth() >= 3 && in_events_; }
  const std::string& key_at(std::size_t depth) const { return keys_[depth]; }
  /// The number of elements before this one in the list at that depth.
  std::size_t index(std::size_t depth) const { return counts_[depth - 1]; }

  bool fail(const std::string& text) {
    error = fmt::format("{}:{}: {}", recording_.file, file_.line(), text);
    return false;
  }
  bool open(char bracket) {
    if (depth() == kDeepest) return fail(fmt::format("more than {} levels of nesting", kDeepest));
    if (depth() == 0 && bracket == '[') {
      return fail(
          "this is a bare list of events without sequence numbers and shapes. PyTorch writes it if built "
          "without Kineto, as in Debian, or with export_chrome_trace() of torch.autograd.profiler. Record "
          "with "
          "torch.profiler from PyTorch's own packages");
    }
    count();
    open_ += bracket;
    counts_.push_back(0);
    if (keys_.size() < depth() + 1) keys_.resize(depth() + 1);
    if (depth() == 2) in_events_ = bracket == '[' && key_at(1) == "traceEvents";
    events = events || in_events_;
    if (depth() == 3 && in_events_) event_ = Event();
    if (depth() == 6 && in_event() && key_at(3) == "args" && key_at(4) == "Input Dims" && index(5) == 1)
      event_.first.shaped = true;
    return true;
  }
  bool close() {
    open_.pop_back();
    counts_.pop_back();
    if (depth() < 2) in_events_ = false;
    return true;
  }
  void count() {
    if (!counts_.empty()) ++counts_.back();
  }
  static std::int64_t thousands(std::int64_t whole) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 1000;
    return whole >= -kMost && whole <= kMost ? whole * 1000 : 0;
  }
  bool number(const Number& number);
  void number_of_event(const Number& number);
  bool take();
  void take_op(Span span);
  bool take_collective(Span span);

  const InflatedFile& file_;
  Recording& recording_;
  Names names_;
  Names threads_;
  std::string open_;  // brackets
  std::vector<std::size_t> counts_;
  std::vector<std::string> keys_;  // by depth: the last key
  bool in_events_ = false;
  Event event_;
};

bool Reader::number(const Number& number) {
  const std::int64_t whole = number.whole;
  if (in_event()) {
    number_of_event(number);
  } else if (depth() == 2 && key_at(1) == "distributedInfo") {
    if (key_at(2) == "rank") recording_.rank = static_cast<int>(whole);
    if (key_at(2) == "world_size") recording_.world_size = static_cast<int>(whole);
  }
  count();
  return true;
}

void Reader::number_of_event(const Number& number) {
  const std::int64_t whole = number.whole;
  const std::string& name = key_at(3);
  if (depth() == 3) {
    if (name == "ts") event_.begin = number;
    if (name == "dur") event_.duration = number;
    if (name == "pid") event_.process = std::to_string(whole);
    if (name == "tid") event_.thread = std::to_string(whole);
  } else if (name != "args") {
    return;
  } else if (depth() == 4) {
    const std::string& argument = key_at(4);
    if (argument == "Sequence number") event_.sequence = whole;
    if (argument == "correlation") event_.correlation = whole;
    if (argument == "In msg nelems" || argument == "In msg size") event_.elements = whole;
  } else if (depth() == 6 && key_at(4) == "Input Dims" && index(5) == 1) {
    event_.first.shape.push_back(whole);  // of the first input
  }
}

bool Reader::string(std::string& value) {
  if (in_event()) {
    const std::string& name = key_at(3);
    if (depth() == 3) {
      if (name == "ph") event_.phase = value;
      if (name == "cat") event_.category = value;
      if (name == "name") event_.name = value;
      if (name == "pid") event_.process = value;
      if (name == "tid") event_.thread = value;
    } else if (name == "args" && depth() == 4) {
      if (key_at(4) == "Collective name") event_.collective = value;
      if (key_at(4) == "dtype") event_.dtype = value;
    } else if (name == "args" && depth() == 5 && key_at(4) == "Input type" && index(5) == 0) {
      event_.first.typed = true;
      event_.first.type = value;
    }
  } else if (depth() == 3 && key_at(1) == "deviceProperties" && key_at(3) == "name" &&
             recording_.gpu.empty()) {
    recording_.gpu = value;
  }
  count();
  return true;
}

bool Reader::end_object() {
  if (depth() == 3 && in_events_ && event_.phase == "X" && !take()) return false;
  return close();
}

bool Reader::take() {
  // 2^62 ns, about 146 years. Larger times are nonsense and would overflow.
  constexpr double kMost = 4.6e15;
  constexpr std::string_view kStep = "ProfilerStep#";
  constexpr std::string_view kModule = "nn.Module: ";
  const std::string& category = event_.category;
  if (category == "gpu_user_annotation") return true;
  const auto timed = [](const Number& time) { return time.value >= 0 && time.value < kMost; };
  if (!timed(event_.begin) || !timed(event_.duration)) {
    // Modules only give names, and may not have ended.
    const bool counts = is_op(category) || is_work(category) || is_launch(category) ||
                        starts(event_.name, kStep) || starts(event_.name, kGloo);
    if (!counts) return true;
    const bool begins = timed(event_.begin);
    const double time = (begins ? event_.duration : event_.begin).value;
    return fail(fmt::format(
        "the event '{}' has {} {}: expected a number of microseconds from 0 on", on_one_line(event_.name),
        std::isnan(time) ? "no" : fmt::format("{:g} as its", time), begins ? "'dur'" : "'ts'"));
  }
  const std::int64_t begin = event_.begin.thousandth;
  const Span span = {Instant(begin), Instant(begin + event_.duration.thousandth)};
  const auto thread = [&] {
    return threads_.of(fmt::format("pid {}, tid {}", event_.process, event_.thread));
  };
  if (starts(event_.name, kStep)) {
    Step step{0, span, thread()};
    const char* end = event_.name.data() + event_.name.size();
    std::from_chars(event_.name.data() + kStep.size(), end, step.number);
    recording_.steps.push_back(step);
  } else if (take_collective(span)) {
    // A collective of Gloo runs on its own thread.
  } else if (is_op(category)) {
    take_op(span);
  } else if (is_work(category)) {
    const bool collective =
        starts(event_.name, "nccl") || event_.name.find("ncclDevKernel") != std::string::npos;
    recording_.work.push_back({span, event_.correlation, thread(), collective});
  } else if (is_launch(category)) {
    if (event_.correlation >= 0)
      recording_.launches.push_back({event_.correlation, span.begin, launches_kernels(event_.name)});
  } else if (category == "python_function" && starts(event_.name, kModule)) {
    recording_.modules.push_back({span, names_.of(event_.name.substr(kModule.size())), thread()});
  }
  return true;
}

// Gloo's collectives are annotations on their own threads; NCCL's are ops that only call NCCL.
bool Reader::take_collective(Span span) {
  const bool gloo = starts(event_.name, kGloo);
  const bool called = event_.name == "record_param_comms" && !event_.collective.empty();
  if (!gloo && !called) return false;
  constexpr std::int64_t kMost = 1'000'000'000'000;
  std::int64_t elements = event_.elements;
  if (gloo) {
    elements = event_.first.shape.empty() ? -1 : 1;
    for (const std::int64_t one : event_.first.shape)
      elements =
          one < 0 || elements < 0 || one > kMost / std::max<std::int64_t>(1, elements) ? -1 : elements * one;
  }
  const Bytes each = size_of_type(gloo ? event_.first.type : event_.dtype);
  const bool sized = elements >= 0 && elements < kMost;
  recording_.collectives.push_back({span, gloo ? event_.name.substr(kGloo.size()) : event_.collective,
                                    sized ? each * elements : Bytes(0), gloo});
  return gloo;
}

void Reader::take_op(Span span) {
  CpuOp op;
  op.span = span;
  op.sequence = event_.sequence;
  op.name = names_.of(event_.name);
  op.thread = threads_.of(fmt::format("pid {}, tid {}", event_.process, event_.thread));
  op.line = file_.line();
  if (event_.name == kAccumulate) {
    op.gradient = static_cast<int>(recording_.gradients.size());
    recording_.gradients.push_back(event_.first);
  }
  recording_.ops.push_back(op);
}

}  // namespace

Result<Recording> read_recording(const std::string& file) {
  InflatedFile bytes(file);
  if (const auto opened = bytes.open(); !opened) return tl::unexpected(opened.error());
  Recording recording;
  recording.file = file;
  if (!bytes.more() && bytes.error().empty()) return failure(fmt::format("{}:1: the file is empty", file));
  Reader reader(bytes, recording);
  const bool whole = nlohmann::json::sax_parse(FileIterator(&bytes), FileIterator(nullptr), &reader);
  if (!bytes.error().empty()) return failure(fmt::format("{}: {}", file, bytes.error()));
  if (!whole) return failure(reader.error);
  if (!reader.events) {
    return failure(
        fmt::format("{}: there are no 'traceEvents': this is not a recording of PyTorch's profiler", file));
  }
  return recording;
}

}  // namespace weir::kineto
