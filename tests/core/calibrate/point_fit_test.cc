#include "core/calibrate/point_fit.h"

#include <fmt/format.h>

#include "core/base/random.h"
#include "core/base/units_text.h"
#include "core/calibrate/bench_points.h"
#include "core/cluster/topology_file.h"
#include "tests/catch.h"
#include "tests/core/calibrate/scene.h"

namespace weir {
namespace {

Topology one_group(const std::string& inside) {
  const std::string text = R"({"name": "t", "groups": [{"name": "gpu", "count": 1, )" + inside + "}]}";
  const auto read = read_topology(*parse_document(text, "t.json"));
  if (!read) FAIL(read.error().text);
  return *read;
}

std::vector<Point> read(const std::string& json, const std::string& group = "") {
  const auto document = parse_document(json, "bench.json");
  REQUIRE(document);
  REQUIRE(has_points(*document));
  const auto points = read_points(*document, "bench.json", group, {"rdma"});
  if (!points) FAIL(points.error().text);
  return *points;
}

PointFit fit(const Topology& topology, const std::vector<Point>& points) {
  auto fitted = PointFit::fit(topology, points);
  if (!fitted) FAIL(fitted.error().text);
  return *fitted;
}

const CalibratedValue& value(const PointFit& fit, const std::string& path) {
  for (const CalibratedValue& one : fit.values()) {
    if (one.path == path) return one;
  }
  FAIL(path << " was not fitted");
  return fit.values().front();
}

double rate(const CalibratedValue& value) {
  return static_cast<double>(parse_rate(value.value.as_string())->value());
}

constexpr const char* kSums = R"({"weir": "1", "size": "64MiB", "numa": 0, "rows": [
  {"dtype": "f32", "sources": 1, "threads": 1, "sum_bytes_per_s": 4e9, "limit_bytes_per_s": 5e9, "share": 0.8},
  {"dtype": "f32", "sources": 1, "threads": 8, "sum_bytes_per_s": 20e9, "limit_bytes_per_s": 25e9, "share": 0.8},
  {"dtype": "f32", "sources": 4, "threads": 8, "sum_bytes_per_s": 60e9, "limit_bytes_per_s": 65e9, "share": 0.9},
  {"dtype": "f16", "sources": 1, "threads": 8, "sum_bytes_per_s": 15e9, "limit_bytes_per_s": 25e9, "share": 0.6}]})";

}  // namespace

TEST_CASE("Benchmarks of sums determine the rates of cores by type, and the rate of memory") {
  const PointFit all = fit(test::topology(), read(kSums));
  CHECK(rate(value(all, "groups.gpu.numa.0.sum_rate.f32")) == Approx(20e9));
  CHECK(rate(value(all, "groups.cpu.numa.0.sum_rate.f16")) == Approx(15e9));
  CHECK(rate(value(all, "groups.cpu.numa.0.memory_rate")) == Approx(75e9));  // two reads and a write
  CHECK(value(all, "groups.cpu.numa.0.memory_rate").least_size == Bytes(64 << 20));
  CHECK(!value(all, "groups.cpu.numa.0.memory_rate").machines);
  CHECK(all.values().size() == 6);
  const PointFit cpu = fit(test::topology(), read(kSums, "cpu"));
  CHECK(cpu.values().size() == 3);
  // The rate of one thread is fitted where the topology counts threads.
  const Topology threads = one_group(R"("numa": [{"sum_rate_per_thread": "1GB/s", "sum_threads": 4}])");
  CHECK(rate(value(fit(threads, read(kSums)), "groups.gpu.numa.0.sum_rate_per_thread.f32")) == Approx(4e9));
}

TEST_CASE("A fit with as many unknowns as points has no error") {
  const auto messages = [](int sizes) {
    std::vector<Point> points;
    for (int i = 0; i < sizes; ++i) {
      Point point;
      point.kind = Point::Kind::kMessage;
      point.source = "transport.json";
      point.size = Bytes(std::int64_t{1} << (16 + 4 * i));
      point.seconds = 12e-6 + static_cast<double>(point.size.count()) / 1.1e9;
      points.push_back(point);
    }
    return points;
  };
  for (const int sizes : {1, 2, 3}) {
    const std::vector<Point> points = messages(sizes);
    const PointFit all = fit(test::topology(), points);
    const CalibratedValue& nic = value(all, "groups.gpu.nics.0.rate");
    INFO(sizes);
    CHECK(nic.standard_error_percent.has_value() == (sizes == 3));
    CHECK(nic.residual_percent.has_value() == (sizes == 3));
    CHECK(all.judged(points.front()) == (sizes == 3));
    const bool remarked = !all.remarks().empty() && all.remarks().back().ends_with("so its error is unknown");
    CHECK(remarked == (sizes < 3));
  }
}

TEST_CASE("A measurement of all NUMA nodes together determines no single one") {
  const Topology two = one_group(R"("numa": [{}, {}], "sockets": [{"between": [0, 1]}])");
  std::string together = kSums;
  together.replace(together.find("\"numa\": 0, "), 11, "");
  const PointFit all = fit(two, read(together));
  CHECK(all.values().empty());
  REQUIRE(!all.remarks().empty());
  CHECK_THAT(all.remarks().front(), has_text("measure one with --numa"));
  CHECK(fit(two, read(kSums)).values().size() == 3);
}

TEST_CASE("Benchmarks of copies determine a GPU's rate for the measured sizes") {
  const PointFit all = fit(test::topology(), read(R"({"weir": "1", "benchmark": "copy", "rows": [
    {"device": 0, "part_bytes": 1000000, "bytes_per_s": 43.6e9, "plain_bytes_per_s": 50.8e9, "share": 0.86},
    {"device": 0, "part_bytes": 4000000, "bytes_per_s": 48.0e9, "plain_bytes_per_s": 50.8e9, "share": 0.94},
    {"device": 0, "part_bytes": 16000000, "bytes_per_s": 50.1e9, "plain_bytes_per_s": 50.8e9, "share": 0.99}]})"));
  const CalibratedValue& gpu = value(all, "groups.gpu.gpus.0.rate");
  CHECK(rate(gpu) == Approx(48e9).epsilon(0.03));
  CHECK(gpu.points == 3);
  CHECK(gpu.least_size == Bytes(1'000'000));
  CHECK(gpu.most_size == Bytes(16'000'000));
  const auto none = PointFit::fit(test::topology(), read(R"({"benchmark": "copy", "rows": [
    {"device": 1, "part_bytes": 1000000, "bytes_per_s": 43.6e9}]})"));
  REQUIRE(!none);
  CHECK(none.error().text == "bench.json: no machine of the topology has a GPU 1");
}

TEST_CASE("Benchmarks of messages determine rate and overhead, even if a fifth of the times is wrong") {
  Random random(5);
  std::vector<Point> points;
  for (int i = 0; i < 60; ++i) {
    Point point;
    point.kind = Point::Kind::kMessage;
    point.source = "transport.json";
    point.size = Bytes(std::int64_t{1} << (14 + i % 10));
    point.seconds = (12e-6 + static_cast<double>(point.size.count()) / 1.1e9) * (1 + 0.01 * random.normal());
    if (i % 5 == 0) point.seconds *= 6;
    points.push_back(point);
  }
  const PointFit all = fit(test::topology(), points);
  CHECK(rate(value(all, "groups.gpu.nics.0.rate")) == Approx(1.1e9).epsilon(0.01));
  CHECK(rate(value(all, "groups.cpu.nics.0.rate")) == Approx(1.1e9).epsilon(0.01));
  const CalibratedValue& overhead = value(all, "model.message_overhead");
  CHECK(parse_duration(overhead.value.as_string())->seconds() == Approx(12e-6).epsilon(0.1));
  CHECK(overhead.machines == 2);
  CHECK(overhead.standard_error_percent > 0);
  Values written;
  for (const CalibratedValue& one : all.values()) written[one.path] = one.value;
  const std::vector<Predicted> predicted = all.predict(points, written);
  REQUIRE(predicted.size() == points.size());
  CHECK(misses_of(predicted).median < 2);
  CHECK(misses_of(predicted).worst > 70);
}

TEST_CASE("One size of messages does not determine their overhead") {
  const PointFit all =
      fit(test::topology(),
          read(R"({"engine": "rdma", "rows": [{"message_bytes": 4000000, "nodes_bytes_per_s": 1e9}]})"));
  CHECK(all.values().size() == 2);
  REQUIRE(all.remarks().size() == 2);
  CHECK_THAT(all.remarks().front(), has_text("one size alone cannot separate the overhead"));
}

TEST_CASE("Times that contradict each other determine nothing") {
  const PointFit all = fit(test::topology(), read(R"({"engine": "rdma", "rows": [
    {"message_bytes": 1000000, "nodes_bytes_per_s": 1e9}, {"message_bytes": 4000000, "nodes_bytes_per_s": 1e8},
    {"message_bytes": 16000000, "nodes_bytes_per_s": 3e9}]})"));
  CHECK(all.values().empty());
  REQUIRE(all.remarks().size() == 1);
  CHECK_THAT(all.remarks().front(), has_text("bench.json: 3 times of one kind do not determine a rate"));
}

TEST_CASE("Collectives in a machine determine the GPU links that limit them") {
  const Topology machine = one_group(R"("switches": [{"name": "p0", "at": "numa0", "rate": "60GB/s"}],
    "gpus": [{"count": 4, "at": "p0", "rate": "50GB/s"}], "nvlink": {"switch": {"rate": "450GB/s"}},
    "nics": [{"at": "p0", "rate": "100Gbps"}])");
  std::vector<Point> points;
  for (const double size : {1e6, 4e6, 16e6, 64e6, 256e6}) {
    Point point;
    point.kind = Point::Kind::kCollective;
    point.source = "nccl.txt";
    point.test = nccl::Test::kAllReduce;
    point.ranks = 4;
    point.hosts = 1;
    point.size = Bytes(static_cast<std::int64_t>(size));
    point.seconds = 24e-6 + size * 2 * 3 / 4 / 360e9;
    points.push_back(point);
  }
  const PointFit all = fit(machine, points);
  CHECK(rate(value(all, "groups.gpu.nvlink.switch.rate")) == Approx(360e9).epsilon(1e-6));
  CHECK(value(all, "groups.gpu.nvlink.switch.latency").value == Value("6us"));
  CHECK(all.values().size() == 2);
  // Over several machines they determine the efficiency of the NICs.
  for (Point& point : points) {
    point.hosts = 2;
    point.seconds = 100e-6 + static_cast<double>(point.size.count()) * 2 * 3 / 4 / (0.8 * 12.5e9);
  }
  const PointFit wide = fit(machine, points);
  const CalibratedValue& efficiency = value(wide, "allreduce_efficiency");
  CHECK(efficiency.value.as_double() == Approx(0.8));
  CHECK(efficiency.machines == 2);
  CHECK(efficiency.least_size == Bytes(250'000));
}

namespace {

// All-reduces over two machines of four GPUs with one NIC of 100 Gbps, at this part of its rate.
std::vector<Point> all_reduces(double part, int sizes = 5) {
  std::vector<Point> points;
  for (int i = 0; i < sizes; ++i) {
    Point point;
    point.kind = Point::Kind::kCollective;
    point.source = "table.txt";
    point.ranks = 8;
    point.hosts = 2;
    point.size = Bytes(std::int64_t{1} << (20 + 2 * i));
    point.seconds = 100e-6 + static_cast<double>(point.size.count()) * 2 * 7 / 8 / (part * 12.5e9);
    points.push_back(point);
  }
  return points;
}

Topology four_gpus(const std::string& rate) {
  return one_group(R"("gpus": [{"count": 4, "at": "numa0"}], "nics": [{"at": "numa0", "rate": ")" + rate +
                   R"("}])");
}

}  // namespace

TEST_CASE("An efficiency outside its range is refused with what was measured and what the topology says") {
  for (const double part : {1.75, 0.00275}) {
    const PointFit all = fit(four_gpus("100Gbps"), all_reduces(part));
    CHECK(all.values().empty());
    CHECK(all.predict(all_reduces(part), {}).empty());
    REQUIRE(all.remarks().size() == 1);
    CHECK_THAT(
        all.remarks().front(),
        has_text("table.txt: all-reduces over 2 machines reach ") &&
            has_text("its NICs have 100 Gbps together in group 'gpu' of the topology") &&
            has_text(fmt::format("allreduce_efficiency would be {:.3g}, and must be from 0.01 to 1", part)) &&
            has_text("it stays as it was. Either the topology states"));
  }
  const PointFit endless = fit(four_gpus("unlimited"), all_reduces(0.5));
  CHECK(endless.values().empty());
  CHECK_THAT(endless.remarks().front(), has_text("has an unlimited rate") && has_text("state its rate"));
}

TEST_CASE("An efficiency just outside its range becomes the end of the range, with the errors of that") {
  const PointFit all = fit(four_gpus("100Gbps"), all_reduces(1.015));
  const CalibratedValue& efficiency = value(all, "allreduce_efficiency");
  CHECK(efficiency.value.as_double() == 1.0);
  CHECK(*efficiency.residual_percent > 0.5);  // a line through the points would miss none
  REQUIRE(all.remarks().size() == 1);
  CHECK_THAT(all.remarks().front(), has_text("1 is written, and errors are those of 1"));
  const PointFit inside = fit(four_gpus("100Gbps"), all_reduces(0.99));
  CHECK(inside.remarks().empty());
  CHECK(*value(inside, "allreduce_efficiency").residual_percent < 0.01);
}

TEST_CASE("Errors are those of the values that are written") {
  const std::vector<Point> points = all_reduces(0.8);
  const PointFit all = fit(four_gpus("100Gbps"), points);
  const Values written = {{"allreduce_efficiency", Value(0.8)}};
  CHECK(misses_of(all.predict(points, written)).worst < 0.01);
  // Runs may determine other rates afterwards.
  Values other = written;
  other["groups.gpu.nics.0.rate"] = Value("50Gbps");
  CHECK(misses_of(all.predict(points, other)).worst > 90);
  CHECK(*all.residual_percent("allreduce_efficiency", other) > 50);
  CHECK_FALSE(all.residual_percent("groups.gpu.nics.0.rate", other).has_value());
}

TEST_CASE("Measurements of one value that contradict each other are reported") {
  std::vector<Point> points = all_reduces(0.8, 6);
  std::vector<Point> others = all_reduces(0.4, 5);
  for (Point& point : others) {
    point.source = "other.txt";
    point.test = nccl::Test::kAllGather;
  }
  points.insert(points.end(), others.begin(), others.end());
  const PointFit all = fit(four_gpus("100Gbps"), points);
  CHECK(value(all, "allreduce_efficiency").sources == std::vector<std::string>{"table.txt"});
  REQUIRE(all.remarks().size() == 1);
  CHECK_THAT(all.remarks().front(),
             has_text("other.txt: allreduce_efficiency has its value from other measurements"));
}

TEST_CASE("A time that fits best below zero is written as zero, and reported") {
  std::vector<Point> points;
  for (int i = 0; i < 6; ++i) {
    Point point;
    point.kind = Point::Kind::kMessage;
    point.source = "transport.json";
    point.size = Bytes(std::int64_t{1} << (20 + i));
    point.seconds = static_cast<double>(point.size.count()) / 1.1e9 - 100e-6;
    points.push_back(point);
  }
  const PointFit all = fit(test::topology(), points);
  const CalibratedValue& overhead = value(all, "model.message_overhead");
  CHECK(overhead.value == Value("0s"));
  CHECK(*overhead.residual_percent > 1);
  REQUIRE(!all.remarks().empty());
  CHECK_THAT(all.remarks().front(), has_text("model.message_overhead: the times fit best with less than 0s"));
}

TEST_CASE("Malformed benchmarks are reported with their line") {
  const auto wrong = [](const std::string& json) {
    const auto document = parse_document(json, "bench.json");
    REQUIRE(document);
    const auto points = read_points(*document, "bench.json", "", {"rdma"});
    REQUIRE(!points);
    return points.error().text;
  };
  CHECK(wrong("{\"engine\": \"rdma\", \"rows\": [\n{\"message_bytes\": 0, \"nodes_bytes_per_s\": 1e9}]}") ==
        "bench.json:2: rows[0].message_bytes: expected a number above 0, as printed by weir bench "
        "transport --json");
  CHECK_THAT(
      wrong("{\"engine\": \"rdma\", \"rows\": [\n{\"message_bytes\": 10, \"nodes_bytes_per_s\": \"fast\"}]}"),
      has_text("bench.json:2: rows[0].nodes_bytes_per_s"));
  CHECK_THAT(wrong(R"({"engine": "tcp", "rows": [{"message_bytes": 10, "nodes_bytes_per_s": 1e9}]})"),
             has_text("bench.json:1: engine: messages over this host's loopback"));
  CHECK_THAT(wrong(R"({"engine": "tcp", "rows": [{"message_bytes": 10, "nodes_bytes_per_s": 1e9}]})"),
             has_text("measure with weir bench transport --engine rdma, or"));
  CHECK_THAT(wrong(R"({"size": "big", "rows": [{"sum_bytes_per_s": 1}]})"), has_text("bench.json:1: size"));
  CHECK_THAT(wrong(R"({"size": "1MB", "rows": [{"sum_bytes_per_s": 1}]})"), has_text("'dtype' is missing"));
  CHECK_THAT(
      wrong(R"({"size": "1MB", "rows": [{"dtype": "f31", "sources": 1, "threads": 1, "sum_bytes_per_s": 1e9,
                       "limit_bytes_per_s": 1e9}]})"),
      has_text("'f31' is not an element type"));
}

}  // namespace weir
