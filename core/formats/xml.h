// XML as a tree of elements that know their lines. Text between elements is left out, because the formats
// read here use only attributes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace weir {

/// A value. Invariants: at most 100 elements deep, so that recursion is safe; each attribute occurs once.
struct XmlElement {
  struct Attribute {
    std::string name;
    std::string value;
  };
  std::string name;
  int line = 0;
  std::vector<Attribute> attributes;
  std::vector<XmlElement> children;

  /// The value of the attribute, or null if there is none.
  const std::string* find(std::string_view attribute) const;
};

/// Parses the text and returns its outermost element. Errors name it `file`. Refuses a document type, because
/// it can define entities that expand endlessly.
Result<XmlElement> parse_xml(std::string_view text, const std::string& file);

/// Reads the file and returns its outermost element.
Result<XmlElement> read_xml(const std::string& file);

/// The text, escaped for use between the quotes of an attribute.
std::string xml_escaped(std::string_view text);

}  // namespace weir
