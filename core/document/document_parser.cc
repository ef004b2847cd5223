// Builds a Value from the events of nlohmann's SAX parser. An iterator counts lines as the parser reads.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "core/document/document.h"

namespace weir {
namespace {

constexpr std::size_t kDeepest = 100;  // values are copied and destroyed recursively

/// Counts the lines that a parser has read. The lexer reads one character past a number. So a line ends after
/// its newline character, and a number before that newline still gets the right line.
struct LineCounter {
  int line = 1;
  char last = ' ';
  void advance(char c) {
    if (last == '\n') ++line;
    last = c;
  }
};

/// An input iterator over text that reports each character to a counter.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, LineCounter* counter) : at_(at), counter_(counter) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    counter_->advance(*at_++);
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) { return a.at_ == b.at_; }

 private:
  const char* at_;
  LineCounter* counter_;
};

/// Handles the parser's events. Each returns whether to go on. nlohmann prescribes the names.
class Builder {
 public:
  Builder(const LineCounter& counter, const std::string& file)
      : counter_(counter), file_(std::make_shared<const std::string>(file)) {}

  bool null() { return add(Value()); }
  bool boolean(bool value) { return add(Value(value)); }
  bool number_integer(std::int64_t value) { return add(Value(value)); }
  bool number_unsigned(std::uint64_t value) {
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return fail(fmt::format("{} is too large for an integer", value));
    }
    return add(Value(static_cast<std::int64_t>(value)));
  }
  bool number_float(double value, const std::string& /*text*/) { return add(Value(value)); }
  bool string(std::string& value) { return add(Value(std::move(value))); }
  bool binary(nlohmann::json::binary_t& /*value*/) { return fail("JSON has no binary values"); }

  bool start_object(std::size_t /*size*/) { return open(Value::object()); }
  bool start_array(std::size_t /*size*/) { return open(Value::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    if (!open_.back().names.insert(name).second) {
      return fail(fmt::format("the key '{}' occurs twice in one object; remove one", name));
    }
    open_.back().key = std::move(name);
    return true;
  }

  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::json::exception& cause) {
    // "[json.exception.parse_error.101] parse error at line 3, column 5: syntax error while parsing object -
    // unexpected '}'; expected string literal": the cause follows the last of these marks.
    std::string text = cause.what();
    for (const std::string_view mark : {"] ", ": ", " - "}) {
      const std::size_t at = text.find(mark);
      if (at != std::string::npos) text.erase(0, at + mark.size());
    }
    return fail(fmt::format("this is not JSON: {}", text));
  }

  Value root;
  std::string error;

 private:
  struct Open {
    Value value;
    std::string key;                        // of the next member
    std::unordered_set<std::string> names;  // of all members so far
  };

  bool fail(const std::string& text) {
    error = fmt::format("{}:{}: {}", *file_, counter_.line, text);
    return false;
  }

  bool add(Value value) {
    value.place(file_, counter_.line);
    attach(std::move(value));
    return true;
  }

  bool open(Value value) {
    if (open_.size() == kDeepest) return fail(fmt::format("more than {} levels of nesting", kDeepest));
    value.place(file_, counter_.line);
    open_.push_back({std::move(value), {}, {}});
    return true;
  }

  bool close() {
    Value value = std::move(open_.back().value);
    open_.pop_back();
    attach(std::move(value));
    return true;
  }

  void attach(Value value) {
    if (open_.empty()) {
      root = std::move(value);
    } else if (open_.back().value.is(Value::Kind::kArray)) {
      open_.back().value.append(std::move(value));
    } else {
      open_.back().value.append(std::move(open_.back().key), std::move(value));
    }
  }

  const LineCounter& counter_;
  std::shared_ptr<const std::string> file_;
  std::vector<Open> open_;
};

// A file that is open for reading as long as the object lives. Opening a pipe does not wait for a writer.
class File {
 public:
  explicit File(const std::string& name) : number_(::open(name.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
    std::error_code ignored;
    kind_ = std::filesystem::status(name, ignored).type();
    if (number_ >= 0) ::fcntl(number_, F_SETFL, 0);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (number_ >= 0) ::close(number_);
  }

  bool readable() const { return number_ >= 0; }

  /// Opening a folder succeeds too, so this is checked separately.
  bool folder() const { return kind_ == std::filesystem::file_type::directory; }

  /// Waits until a pipe has data or has ended; false if neither happens in time. True for all other files.
  bool comes(std::chrono::milliseconds patience) const {
    if (kind_ != std::filesystem::file_type::fifo) return true;
    pollfd one = {number_, POLLIN, 0};
    return ::poll(&one, 1, static_cast<int>(patience.count())) != 0;
  }

  /// Reads at most `most` bytes and returns how many it got: 0 at the end of the file, negative on an error.
  ssize_t read(char* into, std::size_t most) const {
    ssize_t got = -1;
    do {
      got = ::read(number_, into, most);
    } while (got < 0 && errno == EINTR);
    return got;
  }

 private:
  int number_;
  std::filesystem::file_type kind_;
};

}  // namespace

Result<Value> parse_document(std::string_view text, const std::string& file) {
  if (text.empty()) return failure(fmt::format("{}:1: this is not JSON: the file is empty", file));
  LineCounter counter;
  Builder builder(counter, file);
  const CountingIterator begin(text.data(), &counter);
  const CountingIterator end(text.data() + text.size(), &counter);
  if (!nlohmann::json::sax_parse(begin, end, &builder)) return failure(builder.error);
  return std::move(builder.root);
}

Result<std::string> read_text(const std::string& file) {
  const File opened(file);
  if (opened.folder()) return failure(fmt::format("{}: this is a folder; expected a file", file));
  if (!opened.readable()) return failure(fmt::format("{}: there is no such file to read", file));
  constexpr std::chrono::seconds kPatience(10);
  if (!opened.comes(kPatience)) {
    return failure(
        fmt::format("{}: nothing has come through this pipe for {} seconds", file, kPatience.count()));
  }
  // Some files, such as /dev/zero, never end.
  constexpr std::size_t kMost = std::size_t{1} << 30;
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  std::string text;
  while (true) {
    const std::size_t before = text.size();
    text.resize(before + kPiece);
    const ssize_t got = opened.read(text.data() + before, kPiece);
    if (got < 0) return failure(fmt::format("{}: cannot be read: {}", file, std::strerror(errno)));
    text.resize(before + static_cast<std::size_t>(got));
    if (got == 0) return text;
    if (text.size() >= kMost) return failure(fmt::format("{}: the file is larger than 1 GiB", file));
  }
}

Result<Value> read_document(const std::string& file) {
  const auto text = read_text(file);
  if (!text) return tl::unexpected(text.error());
  return parse_document(*text, file);
}

}  // namespace weir
