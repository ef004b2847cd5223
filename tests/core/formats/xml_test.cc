#include "core/formats/xml.h"

#include "tests/catch.h"

namespace weir {
namespace {

std::string xml_refusal(const std::string& text) {
  const auto parsed = parse_xml(text, "f.xml");
  return parsed ? "accepted" : parsed.error().text;
}

TEST_CASE("an element knows its line, its attributes and its children") {
  const auto root = parse_xml(
      "<?xml version=\"1.0\"?>\n<!-- x -->\n<a b=\"1 &lt; 2\" c=\"\">\n text <d/>\n<e f='2'/></a>\n",
      "f.xml");
  REQUIRE(root);
  CHECK(root->name == "a");
  CHECK(root->line == 3);
  CHECK(*root->find("b") == "1 < 2");
  CHECK(root->find("c")->empty());
  CHECK(root->find("d") == nullptr);
  REQUIRE(root->children.size() == 2);
  CHECK(root->children[0].line == 4);
  CHECK(root->children[1].line == 5);
  CHECK(*root->children[1].find("f") == "2");
}

TEST_CASE("an error in XML names the line") {
  CHECK(xml_refusal("") == "f.xml:1: this is not XML: no element found");
  CHECK(xml_refusal("{\"groups\": []}") == "f.xml:1: this is not XML: not well-formed (invalid token)");
  CHECK(xml_refusal("<a>\n<b>\n</a>") == "f.xml:3: this is not XML: mismatched tag");
  CHECK(xml_refusal("<a>\n<b c=\"1\" c=\"2\"/></a>") == "f.xml:2: this is not XML: duplicate attribute");
  CHECK(xml_refusal("<a>\n<b c=\"1") == "f.xml:2: this is not XML: unclosed token");
  CHECK(xml_refusal("<a/>\n<b/>") == "f.xml:2: this is not XML: junk after document element");
  CHECK(xml_refusal(std::string("<a>\0</a>", 8)).find("f.xml:1: this is not XML") == 0);
}

TEST_CASE("entities are refused, because they may expand endlessly") {
  CHECK(xml_refusal("<!DOCTYPE a [<!ENTITY b \"cccc\"><!ENTITY d \"&b;&b;&b;\">]>\n<a>&d;</a>") ==
        "f.xml:1: a document type (<!DOCTYPE>) is not allowed here; remove it");
}

TEST_CASE("elements nested too deep and texts too long are errors") {
  std::string deep;
  for (int i = 0; i < 1'000'000; ++i) deep += "<a>\n";
  CHECK(xml_refusal(deep) == "f.xml:101: elements are nested more than 100 deep");
  std::string deepest;
  for (int i = 0; i < 100; ++i) deepest += "<a>";
  for (int i = 0; i < 100; ++i) deepest += "</a>";
  CHECK(xml_refusal(deepest) == "accepted");
  const std::string huge(std::size_t{10} << 20, 'x');
  CHECK(parse_xml("<a b=\"" + huge + "\"/>", "f.xml")->find("b")->size() == huge.size());
  CHECK(xml_refusal(std::string(std::size_t{65} << 20, ' ')) ==
        "f.xml: this is not a topology: it is larger than 64 MiB");
}

TEST_CASE("escaped text reads back unchanged") {
  const std::string text = "a<b & \"c\" > 'd'";
  CHECK(*parse_xml("<a b=\"" + xml_escaped(text) + "\"/>", "f.xml")->find("b") == text);
}

}  // namespace
}  // namespace weir
