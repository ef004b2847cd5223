// Which kind of file a document is, so that an error can say when the user gave the wrong kind.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/document/document.h"

namespace weir {

enum class FileKind { kTopology, kTrace, kExperiment, kSettings };

/// Recognizes a kind by keys that only this kind has. None if the document has no such key.
std::optional<FileKind> kind_of(const Value& document);

/// Fails if the document is clearly of another kind. The path is its place in the file that contains it.
Result<void> expect(FileKind kind, const Value& document, std::string_view path = "");

}  // namespace weir
