#include "core/workload/trace_file.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/catch.h"

namespace weir {
namespace {

using namespace weir::literals;

Result<Trace> trace_of(const std::string& text) {
  return read_trace(parse_document(text, "net.json").value());
}

std::string error(const std::string& text) {
  const auto trace = trace_of(text);
  return trace ? "no error" : trace.error().text;
}

/// The error of a trace whose list of layers holds these lines, from line 2 on.
std::string layers_error(const std::string& lines) {
  return error("{\"name\": \"net\", \"layers\": [\n" + lines + "]}");
}

TEST_CASE("every shipped trace is valid and reads back as written") {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(WEIR_SOURCE_DIR) + "/traces")) {
    if (entry.path().extension() != ".json") continue;
    INFO(entry.path().string());
    const auto trace = read_trace(entry.path().string());
    REQUIRE(trace);
    CHECK_FALSE(trace->source.empty());
    CHECK(trace_of(write_trace(*trace).dump()).value() == *trace);
    ++count;
  }
  CHECK(count >= 7);
}

TEST_CASE("a trace is read with its times, and tensors are 32-bit floats by default") {
  const Trace trace = trace_of(R"({"name": "net", "batch": 32, "sample": "image", "layers": [
      {"name": "a", "forward": "1ms", "backward": "2ms", "tensors": [{"name": "a.w", "elements": 10}]},
      {"name": "b", "forward": "3us", "backward": "0ns", "tensors": [
        {"name": "b.w", "elements": 3, "dtype": "bf16"}]},
      {"name": "loss", "forward": "0ns", "backward": "1ns"}]})")
                          .value();
  CHECK(trace.batch == 32);
  CHECK(compute_time(trace) == 3_ms + 3_us + 1_ns);
  CHECK(size(trace) == 46_B);
}

TEST_CASE("a trace must have layers, and tensors to communicate") {
  CHECK(layers_error("") == "net.json:1: layers: there is no layer; give at least one");
  CHECK(layers_error(R"({"name": "a", "forward": "1ms", "backward": "1ms"})") ==
        "net.json:1: layers: no layer has a tensor, so there is nothing to communicate; give at least one");
}

TEST_CASE("names of layers and of tensors are unique") {
  const std::string a =
      R"({"name": "a", "forward": "0ns", "backward": "0ns", "tensors": [{"name": "w", "elements": 1},
)";
  CHECK(layers_error(a + R"({"name": "w", "elements": 1}]})") ==
        "net.json:3: layers[0].tensors[1].name: two tensors are called 'w'; rename one, or list a shared one "
        "only in "
        "the first of its layers");
  CHECK(layers_error(a + R"({"name": "v", "elements": 1}]},
      {"name": "a", "forward": "0ns", "backward": "0ns"})") ==
        "net.json:4: layers[1].name: two layers are called 'a'; rename one");
}

TEST_CASE("times and sizes in a trace have limits, each and in total") {
  const auto layer = [](const std::string& name, const std::string& forward, const std::string& elements) {
    return fmt::format(
        R"({{"name": "{0}", "forward": "{1}", "backward": "0s", "tensors": [{{"name": "{0}.w", "elements": {2}}}]}})",
        name, forward, elements);
  };
  CHECK(layers_error(layer("a", "1000000000s", "1")) ==
        "net.json:2: layers[0].forward: 1000000000s is too large; at most 3600s");
  std::string layers = layer("a", "3600s", "1000000000000");
  for (int i = 0; i < 25; ++i) layers += ", " + layer(fmt::format("b{}", i), "3600s", "1000000000000");
  CHECK(layers_error(layers) ==
        "net.json:1: layers: the tensors hold 104 TB together; at most 100TB\n"
        "net.json:1: layers: the layers take 93600 s together; at most 86400s");
}

TEST_CASE("names in a trace fit on one line") {
  CHECK(
      layers_error(
          R"({"name": "a\r", "forward": "0s", "backward": "0s", "tensors": [{"name": "", "elements": 1}]})") ==
      "net.json:2: layers[0].name: 'a?' is not a name; try 1 to 200 bytes of text without control "
      "characters\n"
      "net.json:2: layers[0].tensors[0].name: '' is not a name; try 1 to 200 bytes of text without control "
      "characters");
}

TEST_CASE("all mistakes in a trace are reported at once, with their lines") {
  CHECK(layers_error(R"({"name": "a", "forward": "1", "backward": "-1ms",
"tensors": [{"name": "w", "elements": 0, "dtype": "fp16"},
{"name": "v", "element": 4}]})") ==
        "net.json:2: layers[0].forward: '1' is not a duration; try 1us\n"
        "net.json:2: layers[0].backward: '-1ms' is not a duration; try 5us\n"
        "net.json:3: layers[0].tensors[0].elements: 0 is too small; at least 1\n"
        "net.json:3: layers[0].tensors[0].dtype: expected one of 'f16', 'bf16', 'f32', 'f64', 'i32', 'i64', "
        "not the "
        "string 'fp16'\n"
        "net.json:4: layers[0].tensors[1]: 'elements' is missing: how many numbers it holds\n"
        "net.json:4: layers[0].tensors[1]: unknown key 'element'; did you mean 'elements'?");
}

TEST_CASE("the committed schema of traces is the one that the program writes") {
  // build/.../weir check --schema trace > schemas/trace.schema.json
  CHECK(read_text(std::string(WEIR_SOURCE_DIR) + "/schemas/trace.schema.json").value() == trace_schema());
}

}  // namespace
}  // namespace weir
