// What processes of jobs and sessions send each other: a note, which has a type, a text and perhaps bytes.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "core/document/read_fields.h"
#include "core/document/write_fields.h"

namespace weir {

/// A value.
struct Note {
  std::string from;  // at the end with many connections: which one, also for the answer; else empty
  std::string type;
  std::string text;  // JSON
  std::string body;  // bytes, if this type has any
  friend bool operator==(const Note&, const Note&) = default;
};

/// Sent every half second by every participant (silence.h).
struct AliveNote {
  static constexpr std::string_view kType = "alive";
};

/// Ends the job or session for all.
struct FailedNote {
  static constexpr std::string_view kType = "failed";
  std::string text;
};

/// Everyone has finished.
struct GoodbyeNote {
  static constexpr std::string_view kType = "goodbye";
};

template <class Visitor>
void fields(Visitor& visitor, FailedNote& note) {
  visitor.required("text", note.text, "why");
}
template <class Visitor>
void fields(Visitor& /*visitor*/, AliveNote& /*note*/) {}
template <class Visitor>
void fields(Visitor& /*visitor*/, GoodbyeNote& /*note*/) {}

/// A note for the connection `from`; a machine has only one connection and leaves it empty.
template <class T>
Note note_of(const T& content, std::string from = {}, std::string body = {}) {
  // A text may quote what another machine sent, which may be any bytes.
  constexpr auto kReplace = nlohmann::ordered_json::error_handler_t::replace;
  return {std::move(from), std::string(T::kType), write_fields(content).dump(-1, ' ', false, kReplace),
          std::move(body)};
}

/// The error for a note of another type than expected.
inline Error wrong_type(std::string_view expected, const Note& note) {
  return Error{fmt::format("expected '{}', but '{}' came", expected, note.type.substr(0, 20))};
}

/// The note's content, if it has this type and is well-formed.
template <class T>
Result<T> content_of(const Note& note) {
  if (note.type != T::kType) return tl::unexpected(wrong_type(T::kType, note));
  const auto document = parse_document(note.text, note.type);
  if (!document) return tl::unexpected(document.error());
  return read_fields<T>(*document);
}

/// The reason that a `failed` note gives.
inline std::string reason_in(const Note& note) {
  const auto why = content_of<FailedNote>(note);
  return why ? why->text : why.error().text;
}

}  // namespace weir
