#include "core/formats/xml.h"

#include <expat.h>
#include <fmt/format.h>

#include <memory>
#include <type_traits>

#include "core/document/document.h"

namespace weir {
namespace {

constexpr std::size_t kDeepest = 100;  // elements are copied and destroyed recursively
constexpr std::size_t kLargestText = std::size_t{64} << 20;

/// Builds the tree from expat's events. The first error stops the parser.
class Builder {
 public:
  Builder(XML_Parser parser, const std::string& file) : parser_(parser), file_(file) {
    XML_SetUserData(parser, this);
    XML_SetElementHandler(
        parser,
        [](void* self, const XML_Char* name, const XML_Char** attributes) {
          static_cast<Builder*>(self)->open(name, attributes);
        },
        [](void* self, const XML_Char*) { static_cast<Builder*>(self)->close(); });
    XML_SetStartDoctypeDeclHandler(
        parser, [](void* self, const XML_Char*, const XML_Char*, const XML_Char*, int) {
          static_cast<Builder*>(self)->fail("a document type (<!DOCTYPE>) is not allowed here; remove it");
        });
  }

  Result<XmlElement> parsed(std::string_view text) {
    const auto status = XML_Parse(parser_, text.data(), static_cast<int>(text.size()), /*isFinal=*/1);
    if (!error_.empty()) return failure(error_);
    if (status != XML_STATUS_OK) {
      return failure(fmt::format("{}:{}: this is not XML: {}", file_, line(),
                                 XML_ErrorString(XML_GetErrorCode(parser_))));
    }
    return std::move(root_);
  }

 private:
  int line() const { return static_cast<int>(XML_GetCurrentLineNumber(parser_)); }

  void fail(const std::string& text) {
    if (error_.empty()) error_ = fmt::format("{}:{}: {}", file_, line(), text);
    XML_StopParser(parser_, XML_FALSE);
  }

  void open(const XML_Char* name, const XML_Char** attributes) {
    if (!error_.empty()) return;
    if (open_.size() == kDeepest) return fail(fmt::format("elements are nested more than {} deep", kDeepest));
    XmlElement& element = open_.emplace_back();
    element.name = name;
    element.line = line();
    for (; *attributes != nullptr; attributes += 2)
      element.attributes.push_back({attributes[0], attributes[1]});
  }

  void close() {
    if (!error_.empty()) return;
    XmlElement element = std::move(open_.back());
    open_.pop_back();
    (open_.empty() ? root_ : open_.back().children.emplace_back()) = std::move(element);
  }

  XML_Parser parser_;
  const std::string& file_;
  std::string error_;
  XmlElement root_;
  std::vector<XmlElement> open_;  // outermost first
};

}  // namespace

const std::string* XmlElement::find(std::string_view attribute) const {
  for (const Attribute& one : attributes) {
    if (one.name == attribute) return &one.value;
  }
  return nullptr;
}

Result<XmlElement> parse_xml(std::string_view text, const std::string& file) {
  if (text.size() > kLargestText) {
    return failure(
        fmt::format("{}: this is not a topology: it is larger than {} MiB", file, kLargestText >> 20));
  }
  const std::unique_ptr<std::remove_pointer_t<XML_Parser>, decltype(&XML_ParserFree)> parser(
      XML_ParserCreate(nullptr), &XML_ParserFree);
  if (parser == nullptr) return failure(fmt::format("{}: there is not enough memory to read it", file));
  return Builder(parser.get(), file).parsed(text);
}

Result<XmlElement> read_xml(const std::string& file) {
  const auto text = read_text(file);
  if (!text) return tl::unexpected(text.error());
  return parse_xml(*text, file);
}

std::string xml_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

}  // namespace weir
