#include "core/document/document.h"

#include <nlohmann/json.hpp>

#include "tests/catch.h"

namespace weir {
namespace {

constexpr const char* kText = R"({
  "name": "lab",
  "numbers": [1,
    2.5
    , -3],
  "flags": {
    "on": true,
    "none": null
  }
}
)";

Value document(std::string_view text) { return parse_document(text, "a.json").value(); }
std::string parse_error(std::string_view text) { return parse_document(text, "a.json").error().text; }

TEST_CASE("every value knows its file and line") {
  const Value root = document(kText);
  CHECK(root.where() == "a.json:1");
  CHECK(root.find("name")->where() == "a.json:2");
  const Value& numbers = *root.find("numbers");
  CHECK(numbers.where() == "a.json:3");
  CHECK(numbers.elements()[0].where() == "a.json:3");
  CHECK(numbers.elements()[1].where() == "a.json:4");
  CHECK(numbers.elements()[2].where() == "a.json:5");
  CHECK(root.find("flags")->find("on")->where() == "a.json:7");
  CHECK(root.find("flags")->find("none")->where() == "a.json:8");
}

TEST_CASE("a number at the end of a line belongs to that line") {
  const Value root = document("[1\n,2\n\n,\n3\n]");
  CHECK(root.elements()[0].where() == "a.json:1");
  CHECK(root.elements()[1].where() == "a.json:2");
  CHECK(root.elements()[2].where() == "a.json:5");
}

TEST_CASE("values keep their kinds, and objects keep their order") {
  const Value root = document(R"({"b": 1, "a": 1.0, "c": "x", "d": false, "e": 123456789012})");
  CHECK(root.members()[0].name == "b");
  CHECK(root.members()[1].name == "a");
  CHECK(root.find("b")->is(Value::Kind::kInteger));
  CHECK(root.find("a")->is(Value::Kind::kDouble));
  CHECK(root.find("b")->as_double() == 1.0);
  CHECK(root.find("e")->as_integer() == 123'456'789'012);
  CHECK(json(root).dump() == R"({"b":1,"a":1.0,"c":"x","d":false,"e":123456789012})");
}

TEST_CASE("an error in JSON names the line") {
  CHECK(parse_error("{\n  \"a\": 1,\n}") ==
        "a.json:3: this is not JSON: unexpected '}'; expected string literal");
  CHECK(parse_error("{\"a\" 1}") == "a.json:1: this is not JSON: unexpected number literal; expected ':'");
  CHECK(parse_error("[1,\n2\n") == "a.json:2: this is not JSON: unexpected end of input; expected ']'");
  CHECK(parse_error("") == "a.json:1: this is not JSON: the file is empty");
  CHECK(parse_error("[1] []") == "a.json:1: this is not JSON: unexpected '['; expected end of input");
  CHECK(parse_error("[\n5us]") ==
        "a.json:2: this is not JSON: invalid literal; last read: '5u'; expected ']'");
}

TEST_CASE("a key that occurs twice is an error") {
  CHECK(parse_error("{\"a\": 1,\n \"b\": {\"a\": 2},\n \"a\": 3}") ==
        "a.json:3: the key 'a' occurs twice in one object; remove one");
}

TEST_CASE("numbers too large and nesting too deep are errors") {
  CHECK(parse_error("[18446744073709551615]") ==
        "a.json:1: 18446744073709551615 is too large for an integer");
  CHECK(parse_error("[\n1e999]") == "a.json:2: this is not JSON: number overflow parsing '1e999'");
  CHECK(parse_error(std::string(101, '[')) == "a.json:1: more than 100 levels of nesting");
}

TEST_CASE("a missing file is an error") {
  CHECK(read_document("no/such.json").error().text == "no/such.json: there is no such file to read");
  CHECK(read_document(WEIR_SOURCE_DIR).error().text ==
        std::string(WEIR_SOURCE_DIR) + ": this is a folder; expected a file");
}

constexpr const char* kGroups = R"({"groups": [{"name": "gpu", "count": 8, "nics": [{"rate": "1Gbps"}]},
                                              {"name": "cpu", "count": 4}]})";

Value swept(std::int64_t value) {
  Value result(value);
  result.place(std::make_shared<const std::string>("sweep.json"), 9);
  return result;
}

TEST_CASE("the path to set consists of keys, positions and names of elements") {
  Value root = document(kGroups);
  REQUIRE(root.set("groups.cpu.count", swept(2)));
  REQUIRE(root.set("groups.0.nics.0.rate", Value(std::string("2Gbps"))));
  CHECK(json(root).dump() == R"({"groups":[{"name":"gpu","count":8,"nics":[{"rate":"2Gbps"}]},)"
                             R"({"name":"cpu","count":2}]})");
  CHECK(root.find("groups")->elements()[1].find("count")->where() == "sweep.json:9");
}

TEST_CASE("setting adds a member that an object lacks") {
  Value root = document(kGroups);
  REQUIRE(root.set("network", Value::object()));
  REQUIRE(root.set("network.latency", Value(std::string("5us"))));
  CHECK(root.find("network")->find("latency")->as_string() == "5us");
}

TEST_CASE("setting below a missing value reports what exists") {
  Value root = document(kGroups);
  CHECK(root.set("groups.gpus.count", swept(2)).error().text ==
        "sweep.json:9: groups.gpus.count: groups has no 'gpus'; there are 'gpu', 'cpu'");
  CHECK(root.set("groups.2.count", swept(2)).error().text ==
        "sweep.json:9: groups.2.count: groups has no '2'; there are 'gpu', 'cpu'");
  CHECK(root.set("group.cpu.count", swept(2)).error().text ==
        "sweep.json:9: group.cpu.count: the document has no 'group'; there are 'groups'");
  CHECK(root.set("groups.cpu.count.x", swept(2)).error().text ==
        "sweep.json:9: groups.cpu.count.x: groups.cpu.count has no 'x'; it is the integer 4");
  CHECK(root.set("groups.tpu", swept(2)).error().text ==
        "sweep.json:9: groups.tpu: groups has no 'tpu'; there are 'gpu', 'cpu'");
  CHECK(root == document(kGroups));
}

TEST_CASE("a literal makes a string") { CHECK(Value("2Gbps").as_string() == "2Gbps"); }

TEST_CASE("documents are equal if their contents are") {
  CHECK(document("{\"a\": [1, true]}") == parse_document("\n{\"a\":\n[1,true]}", "b.json").value());
  CHECK_FALSE(document("[1]") == document("[1.0]"));
  CHECK_FALSE(document("[0]") == document("[null]"));
}

}  // namespace
}  // namespace weir
