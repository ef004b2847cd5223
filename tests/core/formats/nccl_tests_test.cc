#include "core/formats/nccl/nccl_tests.h"

#include <fmt/format.h>

#include "tests/catch.h"

namespace weir::nccl {
namespace {

// The format is that of nccl-tests 2.13; the times are made up.
constexpr const char* kTable = R"(mpirun: a line of another program
# nThread 1 nGpus 1 minBytes 1048576 maxBytes 4194304 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1
#
# Using devices
#  Rank  0 Group  0 Pid   1001 on     host-a device  0 [0x04] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid   1002 on     host-a device  1 [0x05] NVIDIA H100 80GB HBM3
#  Rank  2 Group  0 Pid   2001 on     host-b device  0 [0x04] NVIDIA H100 80GB HBM3
#  Rank  3 Group  0 Pid   2002 on     host-b device  1 [0x05] NVIDIA H100 80GB HBM3
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
     1048576        262144     float     sum      -1    95.20   11.01   16.52      0    94.10   11.14   16.71      0
     2097152        524288     float     sum      -1    150.1   13.97   20.96      0    151.0   13.89   20.83    N/A
     4194304       1048576     float     sum      -1   260.00   16.13   24.20      0   261.00   16.07   24.11      0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 20.5
)";

std::string with(std::string text, const std::string& old, const std::string& now) {
  for (std::size_t at = text.find(old); at != std::string::npos; at = text.find(old, at + now.size()))
    text.replace(at, old.size(), now);
  return text;
}

}  // namespace

TEST_CASE("a table of nccl-tests is read with its ranks and hosts") {
  REQUIRE(is_nccl_tests(std::string_view(kTable)));
  const auto tested = read_nccl_tests(kTable, "table.txt");
  REQUIRE(tested);
  CHECK(tested->test == Test::kAllReduce);
  CHECK(tested->ranks == 4);
  CHECK(tested->hosts == 2);
  REQUIRE(tested->times.size() == 6);
  CHECK(tested->times[0].size == Bytes(1 << 20));
  CHECK(tested->times[0].seconds == Approx(95.20e-6));
  CHECK(tested->times[5].seconds == Approx(261e-6));
}

TEST_CASE("a test is recognized by its name, or by its bandwidths") {
  const std::string named =
      with(kTable, "# Using devices", "# Collective test starting: all_gather_perf\n# Using devices");
  CHECK(read_nccl_tests(named, "t")->test == Test::kAllGather);
  std::string other = with(kTable, "float     sum", "float    none");
  for (const auto& [bus, test] : {std::pair("12.10", Test::kAllGather), {"16.13", Test::kBroadcast}}) {
    CHECK(read_nccl_tests(with(other, "24.20", bus), "t")->test == test);
  }
  CHECK(read_nccl_tests(with(kTable, "24.20", "12.10"), "t")->test == Test::kReduceScatter);
}

TEST_CASE("tables with other columns are read too") {
  const std::string old = with(kTable, "sum      -1 ", "sum ");  // without roots
  CHECK(read_nccl_tests(old, "t")->times.size() == 6);
  CHECK(read_nccl_tests(old, "t")->times[0].seconds == Approx(95.20e-6));
  const std::string deviating = with(old, "      0 ", "  2e-07 ");
  CHECK(read_nccl_tests(deviating, "t")->times.size() == 6);
  const std::string dated = with(kTable, "16.71      0\n", "16.71      0  2026-01-01 10:00:00\n");
  CHECK(read_nccl_tests(dated, "t")->times[1].seconds == Approx(94.10e-6));
}

// The table with this before each line, and this behind it.
std::string decorated(const std::string& before, const std::string& behind = "") {
  return before + with(kTable, "\n", behind + "\n" + before);
}

TEST_CASE("what launchers and terminals add to lines changes nothing") {
  const auto plain = read_nccl_tests(kTable, "t");
  REQUIRE(plain);
  const std::string lost =
      with(kTable, "#wrong", "@");  // no '#' at the beginning of a line, as in a web page
  for (const std::string& text :
       {decorated("[1,0]<stdout>:"), decorated("[1,0]<stdout>: "), decorated("0: "), decorated("[0] "),
        decorated("node-7: "), decorated("> "), decorated("    "), decorated("2026-11-29T10:00:00.123Z "),
        decorated("Sun Nov 29 10:00:00 2026[1,0]<stdout>:"), decorated("", "\r"),
        decorated("\x1b[32m", "\x1b[0m"), decorated("\x1b[1;32m[1,0]<stdout>:\x1b[0m"),
        with(with(lost, "#", ""), "@", "#wrong")}) {
    INFO(text.substr(0, 200));
    REQUIRE(is_nccl_tests(text));
    const auto tested = read_nccl_tests(text, "t");
    if (!tested) FAIL(tested.error().text);
    CHECK(tested->test == plain->test);
    CHECK(tested->ranks == 4);
    CHECK(tested->hosts == 2);
    REQUIRE(tested->times.size() == plain->times.size());
    for (std::size_t i = 0; i < tested->times.size(); ++i) {
      CHECK(tested->times[i].size == plain->times[i].size);
      CHECK(tested->times[i].seconds == plain->times[i].seconds);
    }
  }
  // The largest sizes leave no space behind a prefix.
  const std::string wide =
      with(with(kTable, "     4194304 ", "[1,0]<stdout>:8589934592 "), "\n#", "\n[1,0]<stdout>:#");
  CHECK(read_nccl_tests(wide, "t")->times[4].size == Bytes(std::int64_t{1} << 33));
}

TEST_CASE("rccl-tests print the same table") {
  const std::string amd = with(with(kTable, "NVIDIA H100 80GB HBM3", "AMD Instinct MI300X"), "# nThread",
                               "rccl-tests: Version develop:1a2b3c\n# nThread");
  CHECK(read_nccl_tests(amd, "t")->ranks == 4);
  CHECK(read_nccl_tests(amd, "t")->times.size() == 6);
  CHECK(read_nccl_tests(with(amd, " Group  0", ""), "t")->ranks == 4);
}

TEST_CASE("several tables with the same ranks are refused, as a build without MPI prints them") {
  const auto error = [](const std::string& text) {
    const auto tested = read_nccl_tests(text, "table.txt");
    REQUIRE(!tested);
    return tested.error().text;
  };
  std::string alone;
  for (const int rank : {1, 2, 3}) {
    const std::string from = alone.empty() ? kTable : alone;
    const std::size_t at = from.find(fmt::format("#  Rank  {}", rank));
    alone = from.substr(0, at) + from.substr(from.find('\n', at) + 1);
  }
  CHECK(error(alone) == "table.txt: only one GPU took part; expected at least two");
  CHECK_THAT(error(alone + alone),
             has_text("table.txt: only one GPU took part; there are 2 tables with the same ranks") &&
                 has_text("built without MPI") && has_text("MPI=1"));
  CHECK_THAT(error(std::string(kTable) + kTable), has_text("there are 2 tables with the same ranks"));
}

TEST_CASE("the error for a broken table names the line") {
  const auto wrong = [](const std::string& text) {
    const auto tested = read_nccl_tests(text, "table.txt");
    REQUIRE(!tested);
    return tested.error().text;
  };
  CHECK_THAT(wrong("# nThread 1\n"), has_text("table.txt: there is no line with a size and times"));
  CHECK_THAT(wrong(with(kTable, "Rank", "Bank")), has_text("for the GPUs that took part"));
  CHECK_THAT(wrong(with(kTable, "95.20", "0.00")),
             has_text("expected a time in microseconds above 0, up to 1e12, not 0"));
  CHECK_THAT(wrong(with(kTable, "95.20", "1e300")), has_text("not 1e+300"));
  CHECK_THAT(wrong(with(kTable, "      0 ", "      7 ")), has_text("7 elements were wrong"));
  CHECK_THAT(wrong(with(kTable, "      0 ", "    nan ")), has_text("nan elements were wrong"));
  CHECK_THAT(wrong(with(kTable, "13.97", "fast")), has_text("table.txt:14: expected size, count, type"));
}

TEST_CASE("the JSON of nccl-tests is read") {
  constexpr const char* kJson = R"({"version": 2, "args": ["/opt/nccl-tests/build/sendrecv_perf", "-g", "2"],
    "nccl_version": 22703, "config": {"nthreads": 1, "ngpus": 2, "devices": [
      {"rank": 0, "hostname": "a", "device": 0}, {"rank": 2, "hostname": "b", "device": 0}]},
    "results": [{"size": 1048576, "type": "float", "out_of_place": {"time": 95.2, "alg_bw": 11.0, "bus_bw": 11.0},
                 "in_place": {"time": 96.0}},
                {"size": 2097152, "out_of_place": null, "in_place": {"cpu_time": 150.0}}]})";
  const auto document = parse_document(kJson, "nccl.json");
  REQUIRE(document);
  REQUIRE(is_nccl_tests(*document));
  const auto tested = read_nccl_tests(*document);
  REQUIRE(tested);
  CHECK(tested->test == Test::kSendReceive);
  CHECK(tested->ranks == 4);
  CHECK(tested->hosts == 2);
  REQUIRE(tested->times.size() == 2);
  CHECK(tested->times[1].seconds == Approx(96e-6));
  for (const auto& [old, now, text] : {std::tuple("sendrecv_perf", "mine", "nccl.json:1: args"),
                                       {"\"hostname\"", "\"host\"", "config.devices"},
                                       {"\"time\": 95.2", "\"time\": -1", "results[0].out_of_place.time"},
                                       {"\"alg_bw\": 11.0", "\"nwrong\": 3", "3 elements were wrong"},
                                       {"\"size\": 1048576", "\"size\": \"big\"", "results"}}) {
    const auto other = parse_document(with(kJson, old, now), "nccl.json");
    REQUIRE(other);
    const auto read = read_nccl_tests(*other);
    REQUIRE(!read);
    CHECK_THAT(read.error().text, has_text(text));
  }
}

}  // namespace weir::nccl
