// XML as a tree of elements that know their lines. Text between elements is left out: the formats read here
// hold all they say in attributes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace weir {

/// A value. Invariants: at most 100 elements deep, so that it may be walked recursively; each attribute once.
struct XmlElement {
  struct Attribute {
    std::string name;
    std::string value;
  };
  std::string name;
  int line = 0;
  std::vector<Attribute> attributes;
  std::vector<XmlElement> children;

  /// The attribute's value, or null if there is none.
  const std::string* find(std::string_view attribute) const;
};

/// The outermost element; `file` is the text's name in complaints. A document type, and with it entities that
/// expand without end, is refused.
Result<XmlElement> parse_xml(std::string_view text, const std::string& file);

/// The outermost element of the file.
Result<XmlElement> read_xml(const std::string& file);

/// The text as it stands between the quotes of an attribute.
std::string xml_escaped(std::string_view text);

}  // namespace weir
