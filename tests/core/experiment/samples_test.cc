#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/units_text.h"
#include "core/experiment/experiment_file.h"
#include "core/experiment/sample.h"
#include "tests/catch.h"
#include "tests/core/experiment/files.h"

namespace weir {
namespace {

constexpr const char* kLatin = R"("samples": {"count": 40, "seed": 7, "over": {
    "partition_size": {"from": "64KiB", "to": "64MiB", "scale": "logarithmic"},
    "topology.groups.cpu.count": {"from": 0, "to": 3},
    "topology.groups.gpu.nics.0.rate": {"from": "1Gbps", "to": "9Gbps"},
    "model.compute_jitter": {"from": 0, "to": 0.5},
    "policy": ["fifo", "priority"]}})";

std::vector<std::string> texts(const ExperimentFile& file, std::size_t axis) {
  std::vector<std::string> values;
  for (std::size_t i = 0; i < file.points(); ++i) values.push_back(file.point(i)[axis].text);
  return values;
}

TEST_CASE("a Latin hypercube has one sample in each slice of each range") {
  const Files files(kLatin);
  const ExperimentFile file = files.read().value();
  REQUIRE(file.points() == 40);
  std::vector<double> sizes;
  for (const std::string& text : texts(file, 0))
    sizes.push_back(static_cast<double>(parse_size(text).value().count()));
  std::sort(sizes.begin(), sizes.end());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const double low = 65536 * std::pow(1024, static_cast<double>(i) / 40);
    const double high = 65536 * std::pow(1024, static_cast<double>(i + 1) / 40);
    CHECK(sizes[i] >= low * 0.999);  // to four digits
    CHECK(sizes[i] <= high * 1.001);
  }
  for (const char* count : {"0", "1", "2", "3"}) {
    const auto counts = texts(file, 1);
    CHECK(std::count(counts.begin(), counts.end(), count) == 10);
  }
  const auto policies = texts(file, 4);
  CHECK(std::count(policies.begin(), policies.end(), "fifo") == 20);
  for (const std::string& text : texts(file, 2)) {
    CHECK(parse_rate(text).value() >= parse_rate("1Gbps").value());
    CHECK(parse_rate(text).value() <= parse_rate("9Gbps").value());
  }
  for (std::size_t i = 0; i < file.points(); ++i) CHECK(file.experiment(file.point(i)));
}

TEST_CASE("samples depend on the seed, but not on samples of other ranges") {
  const Files files(kLatin);
  const ExperimentFile file = files.read().value();
  CHECK(texts(files.read().value(), 0) == texts(file, 0));
  CHECK(texts(files.read({"samples.seed=8"}).value(), 0) != texts(file, 0));
  CHECK(files.read({"samples.count=5"}).value().points() == 5);
  const ExperimentFile fewer = files.read({"topology.groups.cpu.count=2", "policy=fifo"}).value();
  CHECK(fewer.axes().size() == 3);
  CHECK(texts(fewer, 0) == texts(file, 0));
}

TEST_CASE("random samples repeat bit for bit on every machine") {
  // These numbers come from another machine, compiler and library.
  const std::vector<double> places = spread(Sampling::kRandom, 3, Random(1).split(2));
  const std::vector<double> again = spread(Sampling::kRandom, 4, Random(1).split(2));
  CHECK(std::equal(places.begin(), places.end(), again.begin()));
  for (const double place : spread(Sampling::kRandom, 1000, Random(3))) CHECK((place >= 0 && place < 1));
}

TEST_CASE("every point of a sweep has all samples, without repeated ones") {
  const Files files(R"("sweep": {"policy": ["fifo", "priority"]},
    "samples": {"count": 50, "method": "random", "over": {"topology.groups.cpu.count": {"from": 0, "to": 3}}})");
  const ExperimentFile file = files.read().value();
  CHECK(file.points() == 8);
  std::set<std::string> points;
  for (std::size_t i = 0; i < file.points(); ++i) points.insert(label(file.point(i)));
  CHECK(points.size() == 8);
  CHECK(file.point(0)[0].text == "fifo");
  CHECK(file.point(7)[0].text == "priority");
}

TEST_CASE("one at a time: the first values, then each other value with the first of the other lists") {
  const Files files(R"("sweep_by": "one_at_a_time", "sweep": {"credit": [4, 1, 2], "policy": ["fifo"],
    "topology.groups.cpu.count": [1, 0]})");
  const ExperimentFile file = files.read().value();
  REQUIRE(file.points() == 4);
  std::vector<std::string> points;
  for (std::size_t i = 0; i < file.points(); ++i) points.push_back(label(file.point(i)));
  CHECK(points == std::vector<std::string>{
                      "credit=4 policy=fifo topology.groups.cpu.count=1",
                      "credit=1 policy=fifo topology.groups.cpu.count=1",
                      "credit=2 policy=fifo topology.groups.cpu.count=1",
                      "credit=4 policy=fifo topology.groups.cpu.count=0",
                  });
}

TEST_CASE("mistakes in samples are reported at their lines") {
  const auto error = [](const std::string& over) {
    return Files("\"samples\": {\"count\": 3, \"over\": " + over + "}").error();
  };
  CHECK(error("{}") == "experiment.json:2: samples.over: expected an object of ranges, not an empty object");
  CHECK(error(R"({"credit": {"from": 1}})") ==
        "experiment.json:2: samples.over.credit: 'to' is missing: the largest value");
  CHECK(error(R"({"credit": {"from": 4, "to": 4}})") ==
        "experiment.json:2: samples.over.credit.to: expected more than 'from' (4)");
  CHECK(
      error(R"({"credit": {"from": 0, "to": 4, "scale": "logarithmic"}})") ==
      "experiment.json:2: samples.over.credit.from: expected more than 0, because the scale is logarithmic");
  CHECK(error(R"({"partition_size": {"from": "1MB", "to": "2s"}})") ==
        "experiment.json:2: samples.over.partition_size.to: expected the same kind of value as in 'from'");
  CHECK(
      error(R"({"partition_size": {"from": "little", "to": "2MB"}})") ==
      "experiment.json:2: samples.over.partition_size.from: expected a number, a size such as '4MiB', a rate "
      "such as '100Gbps' or a duration such as '5us', not the string 'little'");
  CHECK(error(R"({"trace": ["trace.json"]})") ==
        "experiment.json:2: samples.over.trace: whole topologies and traces cannot be sampled; list them in "
        "'sweep'");
  CHECK(error(R"({"seeds": [1]})") == "experiment.json:2: samples.over.seeds: 'seeds' cannot be swept");
  CHECK(Files(R"("samples": {"over": {"credit": [1, 2]}})").error() ==
        "experiment.json:2: samples: 'count' is missing: how many samples; repeated ones are left out");
  CHECK(Files(R"("sweep": {"credit": [1]}, "samples": {"count": 2, "over": {"credit": [1, 2]}})").error() ==
        "experiment.json:2: samples.over.credit: this is the same as 'credit'");
  CHECK(Files(R"("sweep_by": "turns")").error() ==
        "experiment.json:2: sweep_by: expected one of 'grid', 'one_at_a_time', not the string 'turns'");
}

}  // namespace
}  // namespace weir
