#include "core/document/fields.h"

#include <array>

#include "core/document/read_fields.h"
#include "core/document/schema.h"
#include "core/document/write_fields.h"
#include "tests/catch.h"

namespace weir {

// A small configuration with every kind of field.
namespace {

enum class Colour { kRed, kBlue };

constexpr auto enum_names(Colour /*colour*/) {
  return std::array<Named<Colour>, 2>{{{Colour::kRed, "red"}, {Colour::kBlue, "blue"}}};
}

struct Pair {
  BytesPerSecond in;
  BytesPerSecond out;
};

template <class Visitor>
void fields(Visitor& visitor, Pair& pair) {
  visitor.required("in", pair.in, "the way in");
  visitor.required("out", pair.out, "the way out");
}

struct Leaf {
  std::string name;
  int count = 1;
};

template <class Visitor>
void fields(Visitor& visitor, Leaf& leaf) {
  visitor.required("name", leaf.name, "what it is called");
  visitor.optional("count", leaf.count, "how many", at_least(1));
}

struct Tree {
  std::string name;
  bool tall = false;
  double height = 1.5;
  std::uint64_t seed = 1;
  Colour colour = Colour::kRed;
  Bytes part{4'000'000};
  Duration delay;
  Pair rate;
  std::vector<Leaf> leaves;
  std::optional<Leaf> root;
  std::map<std::string, int> marks;
  Value extra;
};

template <class Visitor>
void fields(Visitor& visitor, Tree& tree) {
  visitor.required("name", tree.name, "what it is called");
  visitor.optional("tall", tree.tall, "whether it is tall");
  visitor.optional("height", tree.height, "how high it is", at_least(0.5));
  visitor.optional("seed", tree.seed, "what it grew from");
  visitor.optional("colour", tree.colour, "its colour");
  visitor.optional("part", tree.part, "the size of its parts");
  visitor.optional("delay", tree.delay, "how late it comes");
  visitor.required("rate", tree.rate, "how fast it grows");
  visitor.optional("leaves", tree.leaves, "its leaves");
  visitor.optional("root", tree.root, "its root");
  visitor.optional("marks", tree.marks, "its marks");
  visitor.optional("extra", tree.extra, "anything");
}

}  // namespace

template <>
struct Shorthand<Pair> {
  using Short = BytesPerSecond;
  static Pair from(BytesPerSecond rate) { return {rate, rate}; }
  static std::optional<BytesPerSecond> of(const Pair& pair) {
    return pair.in == pair.out ? std::optional(pair.in) : std::nullopt;
  }
};

namespace {

Result<Tree> read(const std::string& text) {
  return read_fields<Tree>(parse_document(text, "t.json").value());
}
std::string read_error(const std::string& text) { return read(text).error().text; }

constexpr const char* kFull = R"({
  "name": "oak", "tall": true, "height": 2, "seed": 7, "colour": "blue", "part": "1MiB", "delay": "5us",
  "rate": {"in": "1Gbps", "out": "2Gbps"},
  "leaves": [{"name": "a"}, {"name": "b", "count": 3}],
  "root": {"name": "r"}, "marks": {"x": 1}, "extra": [1, {"y": null}]
})";

TEST_CASE("every kind of field is read") {
  const Tree tree = read(kFull).value();
  CHECK(tree.name == "oak");
  CHECK(tree.tall);
  CHECK(tree.height == 2.0);
  CHECK(tree.seed == 7);
  CHECK(tree.colour == Colour::kBlue);
  CHECK(tree.part.count() == 1'048'576);
  CHECK(tree.delay.ns() == 5000);
  CHECK(tree.rate.in.value() == 125'000'000);
  CHECK(tree.rate.out.value() == 250'000'000);
  CHECK(tree.leaves.at(0).count == 1);
  CHECK(tree.leaves.at(1).count == 3);
  CHECK(tree.root->name == "r");
  CHECK(tree.marks.at("x") == 1);
  CHECK(tree.extra.elements().size() == 2);
}

TEST_CASE("missing fields have the struct's defaults") {
  const Tree tree = read(R"({"name": "oak", "rate": "1Gbps"})").value();
  CHECK(tree.height == 1.5);
  CHECK(tree.colour == Colour::kRed);
  CHECK(tree.part.count() == 4'000'000);
  CHECK(tree.rate.in == tree.rate.out);
  CHECK_FALSE(tree.root.has_value());
}

TEST_CASE("null stands for an absent optional") {
  CHECK_FALSE(read(R"({"name": "oak", "rate": "1Gbps", "root": null})").value().root.has_value());
}

TEST_CASE("the written text is the complete configuration in effect") {
  const Tree tree = read(R"({"name": "oak", "rate": "1Gbps", "leaves": [{"name": "a"}]})").value();
  CHECK(write_fields(tree).dump() ==
        R"({"name":"oak","tall":false,"height":1.5,"seed":1,"colour":"red","part":"4MB","delay":"0s",)"
        R"("rate":"1Gbps",)"
        R"("leaves":[{"name":"a","count":1}],"marks":{},"extra":null})");
}

TEST_CASE("the written text reads back as the same struct") {
  const std::string once = write_fields(read(kFull).value()).dump();
  CHECK(write_fields(read(once).value()).dump() == once);
}

TEST_CASE("a missing key is reported at the line of its object") {
  CHECK(read_error("{\"rate\": \"1Gbps\", \"leaves\": [\n{}]}") ==
        "t.json:1: 'name' is missing: what it is called\n"
        "t.json:2: leaves[0]: 'name' is missing: what it is called");
}

TEST_CASE("the error for an unknown key suggests the nearest key") {
  CHECK(read_error("{\"name\": \"oak\", \"rate\": \"1Gbps\",\n\"colours\": 1, \"leaves\": [\n{\"name\": "
                   "\"a\", \"cuont\": 2}]}") ==
        "t.json:3: leaves[0]: unknown key 'cuont'; did you mean 'count'?\n"
        "t.json:2: unknown key 'colours'; did you mean 'colour'?");
}

TEST_CASE("the error for an unknown key lists all keys if none is near") {
  CHECK(
      read_error("{\"name\": \"oak\", \"rate\": {\"in\": \"1Gbps\", \"out\": \"1Gbps\", \"sideways\": 1}}") ==
      "t.json:1: rate: unknown key 'sideways'; the keys here are 'in', 'out'");
}

TEST_CASE("the error for a value of the wrong kind names the right kind") {
  const auto with = [](const std::string& field) {
    return read_error("{\"name\": \"oak\", \"rate\": \"1Gbps\",\n" + field + "}");
  };
  CHECK(with("\"tall\": 1") == "t.json:2: tall: expected true or false, not the integer 1");
  CHECK(with("\"height\": \"2\"") == "t.json:2: height: expected a number, not the string '2'");
  CHECK(with("\"seed\": 1.5") == "t.json:2: seed: expected an integer, not the number 1.5");
  CHECK(with("\"seed\": -1") == "t.json:2: seed: -1 is too small; at least 0");
  CHECK(with("\"seed\": 1e3") == "t.json:2: seed: expected an integer without point and exponent; try 1000");
  CHECK(with("\"colour\": \"green\"") ==
        "t.json:2: colour: expected one of 'red', 'blue', not the string 'green'");
  CHECK(with("\"part\": 4096") == "t.json:2: part: expected a size such as '4MiB', not the integer 4096");
  CHECK(with("\"part\": \"4M\"") == "t.json:2: part: '4M' is not a size; try 4MB");
  CHECK(with("\"delay\": null") == "t.json:2: delay: expected a duration such as '5us', not null");
  CHECK(with("\"leaves\": {}") == "t.json:2: leaves: expected an array, not an object");
  CHECK(with("\"leaves\": [[]]") == "t.json:2: leaves[0]: expected an object, not an array");
  CHECK(with("\"root\": true") == "t.json:2: root: expected an object, not true");
  CHECK(with("\"marks\": {\"x\": \"y\"}") == "t.json:2: marks.x: expected an integer, not the string 'y'");
}

TEST_CASE("a shorthand is read as its own type") {
  CHECK(read_error("{\"name\": \"oak\", \"rate\": 100}") ==
        "t.json:1: rate: expected a rate such as '100Gbps', not the integer 100");
}

TEST_CASE("the error for a number out of range names the bound") {
  CHECK(read_error("{\"name\": \"oak\", \"rate\": \"1Gbps\", \"height\": 0, \"leaves\": [{\"name\": \"a\", "
                   "\"count\": 0}]}") ==
        "t.json:1: height: 0 is too small; at least 0.5\n"
        "t.json:1: leaves[0].count: 0 is too small; at least 1");
  const auto count = [](const std::string& number) {
    return read_error(R"({"name": "oak", "rate": "1Gbps", "leaves": [{"name": "a", "count": )" + number +
                      "}]}");
  };
  for (const std::string least : {"-1", "-1e9", "-99999999999"})
    CHECK_THAT(count(least), has_text(" is too small; at least 1"));
  CHECK(count("1e12") == "t.json:1: leaves[0].count: 1000000000000 is too large; at most 2147483647");
  CHECK(count("99999999999") == "t.json:1: leaves[0].count: 99999999999 is too large; at most 2147483647");
}

TEST_CASE("the path of the object comes first in its complaints") {
  const Value object = parse_document("{\"nme\": \"a\", \"name\": \"b\"}", "t.json").value();
  CHECK(read_fields<Leaf>(object, "trees[2].leaf").error().text ==
        "t.json:1: trees[2].leaf: unknown key 'nme'; did you mean 'name'?");
  CHECK(read_fields<Leaf>(Value(), "leaf").error().text == "leaf: expected an object, not null");
}

TEST_CASE("only the first ten complaints are shown") {
  std::string text = "{\"name\": \"oak\", \"rate\": \"1Gbps\", \"leaves\": [";
  for (int i = 0; i < 12; ++i) text += i == 0 ? "1" : ",1";
  const std::string error = read_error(text + "]}");
  CHECK(std::count(error.begin(), error.end(), '\n') == 10);
  CHECK(error.substr(error.rfind('\n')) == "\nand 2 more");
}

TEST_CASE("the schema states kinds, bounds, defaults and required fields") {
  CHECK(SchemaWriter::schema<Leaf>().dump() ==
        R"({"type":"object","properties":{"name":{"description":"what it is called","type":"string"},)"
        R"("count":{"description":"how many","type":"integer","minimum":1,"default":1}},)"
        R"("required":["name"],"additionalProperties":false})");
  CHECK(SchemaWriter::schema<Colour>().dump() == R"({"enum":["red","blue"]})");
  CHECK(SchemaWriter::schema<std::optional<bool>>().dump() ==
        R"({"anyOf":[{"type":"boolean"},{"type":"null"}]})");
  CHECK(SchemaWriter::schema<std::vector<std::string>>().dump() ==
        R"({"type":"array","items":{"type":"string"}})");
  const auto pair = SchemaWriter::schema<Pair>();
  CHECK(pair["anyOf"][0]["type"] == "string");
  CHECK(pair["anyOf"][1]["required"].dump() == R"(["in","out"])");
}

}  // namespace
}  // namespace weir
