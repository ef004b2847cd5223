#include "core/run/record_file.h"

#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <type_traits>

#include "core/document/document.h"
#include "core/document/read_fields.h"
#include "core/document/write_fields.h"

namespace weir {
namespace {

static_assert(std::endian::native == std::endian::little, "records are written as they are in memory");
static_assert(std::is_trivially_copyable_v<OpRecord> && sizeof(OpRecord) == 3 * sizeof(std::int64_t));

constexpr std::string_view kBegin = "{\"weir_record\":";
constexpr std::int64_t kLatest = 10'000'000'000'000'000;  // ns, 115 days; differences never overflow

// The header as one line. Names from the command line may contain bytes that JSON cannot hold.
std::string line(const RecordHeader& header) { return json_text(write_fields(header)) + "\n"; }

// Reads the header from the line, which comes without its newline.
Result<RecordHeader> header_of(const std::string& line, const std::string& file) {
  if (!line.starts_with(kBegin)) {
    return failure(fmt::format(
        "{}: is not a record of a run; 'weir run EXPERIMENT --records' writes record-....record files",
        file));
  }
  const auto document = parse_document(line, file);
  if (!document) return tl::unexpected(document.error());
  const Value* form = document->find("weir_record");
  if (form->is(Value::Kind::kInteger) && form->as_integer() != kRecordFormat) {
    return failure(
        fmt::format("{}: has record format {}, but this program reads format {}; run the experiment again",
                    file, form->as_integer(), kRecordFormat));
  }
  auto header = read_fields<RecordHeader>(*document);
  if (!header) return header;
  const Value& experiment = header->experiment;
  if (!experiment.is(Value::Kind::kObject))
    return failure(complaint(experiment, "experiment", "expected an object, not " + description(experiment)));
  if (header->warm_up >= header->iterations) {
    return failure(complaint(*document, "warm_up",
                             fmt::format("{} warm-up iterations out of {} leave none to measure",
                                         header->warm_up, header->iterations)));
  }
  return header;
}

Result<void> check_size(const RecordHeader& header, std::size_t bytes, const std::string& file) {
  const Wide expected =
      static_cast<Wide>(header.ops) * header.iterations * static_cast<Wide>(sizeof(OpRecord));
  if (expected == static_cast<Wide>(bytes)) return {};
  const bool less = static_cast<Wide>(bytes) < expected;
  return failure(
      fmt::format("{}: {}: {} iterations of {} ops take {} bytes, but {} follow the first line; {}", file,
                  less ? "is cut off" : "is too long", header.iterations, header.ops,
                  static_cast<double>(expected) < 1e18 ? std::to_string(static_cast<std::int64_t>(expected))
                                                       : "more than 10^18",
                  bytes, "copy it again, or run the experiment again"));
}

Result<void> check_times(const Record& record, const std::string& file) {
  for (std::size_t i = 0; i < record.iterations.size(); ++i) {
    for (std::size_t op = 0; op < record.iterations[i].size(); ++op) {
      const OpRecord& times = record.iterations[i][op];
      const bool right = Instant() <= times.submitted && times.submitted <= times.completed &&
                         Instant() <= times.started && times.started <= times.completed &&
                         times.completed <= Instant(kLatest);
      if (right) continue;
      return failure(
          fmt::format("{}: is damaged: op {} of iteration {} was submitted at {} ns, started at {} ns and "
                      "completed at {} ns; copy it again, or run the experiment again",
                      file, op, i, times.submitted.ns(), times.started.ns(), times.completed.ns()));
    }
  }
  return {};
}

}  // namespace

std::string text(const RecordHeader& header, const Record& record) {
  WEIR_CHECK(header.iterations == static_cast<std::int64_t>(record.iterations.size()), header.iterations);
  std::string text = line(header);
  const std::size_t size = static_cast<std::size_t>(header.ops) * sizeof(OpRecord);
  text.reserve(text.size() + size * record.iterations.size());
  for (const std::vector<OpRecord>& iteration : record.iterations) {
    WEIR_CHECK(header.ops == static_cast<std::int64_t>(iteration.size()), header.ops, iteration.size());
    text.append(reinterpret_cast<const char*>(iteration.data()), size);  // NOLINT: plain numbers
  }
  return text;
}

Result<RecordFile> read_record(const std::string& file) {
  const auto text = read_text(file);
  if (!text) return tl::unexpected(text.error());
  const std::size_t end = text->find('\n');
  auto header = header_of(text->substr(0, end), file);
  if (!header) return tl::unexpected(header.error());
  const std::size_t first = end == std::string::npos ? text->size() : end + 1;
  if (auto held = check_size(*header, text->size() - first, file); !held) return tl::unexpected(held.error());
  RecordFile read{std::move(*header), {}};
  const auto ops = static_cast<std::size_t>(read.header.ops);
  read.record = Record(ops, static_cast<int>(read.header.iterations));
  const char* from = text->data() + first;
  for (std::vector<OpRecord>& iteration : read.record.iterations) {
    if (ops > 0) std::memcpy(iteration.data(), from, ops * sizeof(OpRecord));
    from += ops * sizeof(OpRecord);
  }
  if (auto right = check_times(read.record, file); !right) return tl::unexpected(right.error());
  return read;
}

Result<RecordHeader> read_record_header(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return failure(fmt::format("{}: cannot be read: {}", file, std::strerror(errno)));
  std::string begin(kBegin.size(), '\0');
  stream.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<std::size_t>(stream.gcount()));
  std::string rest;
  if (begin == kBegin) std::getline(stream, rest);
  return header_of(begin + rest, file);
}

}  // namespace weir
