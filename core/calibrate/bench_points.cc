#include "core/calibrate/bench_points.h"

#include <algorithm>

#include "core/document/number_in.h"
#include "core/document/read_fields.h"

namespace weir {
namespace {

constexpr double kMostRate = 1e15;  // bytes per second

struct SumRow {
  std::string dtype;
  int sources = 1;
  int threads = 1;
  double sum_bytes_per_s = 0;
  double limit_bytes_per_s = 0;
  double share = 0;
};

template <class Visitor>
void fields(Visitor& visitor, SumRow& row) {
  visitor.required("dtype", row.dtype, "the type of the elements");
  visitor.required("sources", row.sources, "how many buffers were added at once", at_least(1));
  visitor.required("threads", row.threads, "how many threads added", at_least(1));
  visitor.required("sum_bytes_per_s", row.sum_bytes_per_s, "bytes summed per second, with one source",
                   within(1, kMostRate));
  visitor.required("limit_bytes_per_s", row.limit_bytes_per_s, "the limit that memory sets",
                   within(1, kMostRate));
  visitor.optional("share", row.share, "the fraction of the limit");
}

struct CopyRow {
  int device = 0;
  std::int64_t part_bytes = 0;
  double bytes_per_s = 0;
  double plain_bytes_per_s = 0;
  double share = 0;
};

template <class Visitor>
void fields(Visitor& visitor, CopyRow& row) {
  visitor.required("device", row.device, "the number of the GPU", within(0, 127));
  visitor.required("part_bytes", row.part_bytes, "bytes of each copy", within(1, kMostRate));
  visitor.required("bytes_per_s", row.bytes_per_s, "bytes per second each way", within(1, kMostRate));
  visitor.optional("plain_bytes_per_s", row.plain_bytes_per_s, "bytes per second of plain copies");
  visitor.optional("share", row.share, "the fraction of plain copies");
}

// Reads the rows. Rows may have further members.
template <class Row>
Result<std::vector<Row>> rows_of(const Value& document) {
  std::vector<Row> all;
  std::size_t index = 0;
  for (const Value& row : document.find("rows")->elements()) {
    auto read = read_fields<Row>(row, joined("rows", index++));
    if (!read) return tl::unexpected(read.error());
    all.push_back(std::move(*read));
  }
  return all;
}

Result<Bytes> size_of(const Value& document) {
  const Value* size = document.find("size");
  if (size == nullptr || !size->is(Value::Kind::kString))
    return failure(complaint(document, "size", "expected the size of an operand, such as '64MiB'"));
  auto parsed = parse_size(size->as_string());
  if (parsed && *parsed > Bytes(0)) return *parsed;
  return failure(complaint(*size, "size", parsed ? "expected more than 0 bytes" : parsed.error().text));
}

double seconds(Bytes size, double rate) { return static_cast<double>(size.count()) / rate; }

// A sum of the runtime has one source and all threads. One of several threads alone is a point of its own
// kind.
Result<std::vector<Point>> sums(const Value& document, Point point) {
  const auto size = size_of(document);
  if (!size) return tl::unexpected(size.error());
  const auto rows = rows_of<SumRow>(document);
  if (!rows) return tl::unexpected(rows.error());
  if (const Value* numa = document.find("numa"); numa != nullptr) {
    if (!numa->is(Value::Kind::kInteger) || numa->as_integer() < 0 || numa->as_integer() > 511)
      return failure(
          complaint(*numa, "numa", "expected the number of a NUMA node, not " + description(*numa)));
    point.numa = static_cast<int>(numa->as_integer());
  }
  int most = 1;
  for (const SumRow& row : *rows) most = std::max(most, row.threads);
  std::vector<Point> points;
  point.size = *size;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const SumRow& row = (*rows)[i];
    const auto dtype = dtype_named(row.dtype);
    if (!dtype) {
      return failure(complaint(document.find("rows")->elements()[i], joined(joined("rows", i), "dtype"),
                               "'" + row.dtype + "' is not an element type"));
    }
    point.one_thread = row.threads == 1 && most > 1;
    if (row.sources != 1 || (row.threads != most && !point.one_thread)) continue;
    point.kind = Point::Kind::kSum;
    point.dtype = *dtype;
    point.seconds = seconds(*size, row.sum_bytes_per_s);
    points.push_back(point);
    if (point.one_thread) continue;
    point.kind = Point::Kind::kMemory;
    point.seconds = seconds(*size, row.limit_bytes_per_s);
    points.push_back(point);
  }
  return points;
}

Result<std::vector<Point>> copies(const Value& document, Point point) {
  const auto rows = rows_of<CopyRow>(document);
  if (!rows) return tl::unexpected(rows.error());
  std::vector<Point> points;
  point.kind = Point::Kind::kCopy;
  for (const CopyRow& row : *rows) {
    point.device = row.device;
    point.size = Bytes(row.part_bytes);
    point.seconds = seconds(point.size, row.bytes_per_s);
    points.push_back(point);
  }
  return points;
}

// Only these two members are read: rows of different engines differ in the others.
Result<std::vector<Point>> messages(const Value& document, Point point, const NicEngines& engines) {
  std::vector<Point> points;
  point.kind = Point::Kind::kMessage;
  const Value* engine = document.find("engine");
  if (engine == nullptr || !engine->is(Value::Kind::kString) ||
      std::find(engines.begin(), engines.end(), engine->as_string()) == engines.end()) {
    return failure(complaint(
        engine == nullptr ? document : *engine, "engine",
        fmt::format("messages over this host's loopback or memory do not use its NICs; measure "
                    "with weir bench transport --engine {}, or give runs in the lab or on a cluster",
                    fmt::join(engines, " or "))));
  }
  std::size_t index = 0;
  for (const Value& row : document.find("rows")->elements()) {
    const std::string path = joined("rows", index++);
    double numbers[2] = {};
    const char* names[2] = {"message_bytes", "nodes_bytes_per_s"};
    for (int i = 0; i < 2; ++i) {
      numbers[i] = number_in(row, names[i]).value_or(0);
      if (numbers[i] >= 1 && numbers[i] <= kMostRate) continue;
      const Value* value = row.find(names[i]);
      return failure(complaint(value == nullptr ? row : *value, joined(path, names[i]),
                               "expected a number above 0, as printed by weir bench transport --json"));
    }
    point.size = Bytes(static_cast<std::int64_t>(numbers[0]));
    point.seconds = seconds(point.size, numbers[1]);
    points.push_back(point);
  }
  return points;
}

std::vector<Point> collectives(const nccl::Tested& tested, Point point) {
  std::vector<Point> points;
  const bool exchange = tested.test == nccl::Test::kSendReceive && tested.hosts > 1;
  point.kind = exchange ? Point::Kind::kExchange : Point::Kind::kCollective;
  point.test = tested.test;
  point.ranks = tested.ranks;
  point.hosts = tested.hosts;
  for (const nccl::Time& time : tested.times) {
    point.size = time.size;
    point.seconds = time.seconds;
    points.push_back(point);
  }
  return points;
}

const Value* first_row(const Value& document) {
  const Value* rows = document.find("rows");
  if (rows == nullptr || !rows->is(Value::Kind::kArray) || rows->elements().empty()) return nullptr;
  return &rows->elements().front();
}

}  // namespace

bool has_points(const Value& document) {
  if (nccl::is_nccl_tests(document)) return true;
  const Value* row = first_row(document);
  if (row == nullptr) return false;
  return row->find("sum_bytes_per_s") != nullptr || row->find("nodes_bytes_per_s") != nullptr ||
         row->find("part_bytes") != nullptr;
}

Result<std::vector<Point>> read_points(const Value& document, const std::string& source,
                                       const std::string& group, const NicEngines& engines) {
  Point point;
  point.source = source;
  point.group = group;
  if (nccl::is_nccl_tests(document)) {
    const auto tested = nccl::read_nccl_tests(document);
    if (!tested) return tl::unexpected(tested.error());
    return collectives(*tested, point);
  }
  const Value& row = *first_row(document);
  if (row.find("sum_bytes_per_s") != nullptr) return sums(document, point);
  return row.find("part_bytes") != nullptr ? copies(document, point) : messages(document, point, engines);
}

Result<std::vector<Point>> read_points(const std::string& table, const std::string& source,
                                       const std::string& group) {
  const auto tested = nccl::read_nccl_tests(table, source);
  if (!tested) return tl::unexpected(tested.error());
  Point point;
  point.source = source;
  point.group = group;
  return collectives(*tested, point);
}

}  // namespace weir
