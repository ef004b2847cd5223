// Which kind of file a document is, so that one given in the place of another is told as what it is.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/document/document.h"

namespace weir {

enum class FileKind { kTopology, kTrace, kExperiment, kSettings };

/// By keys that the other kinds have not; none if it has no such key.
std::optional<FileKind> kind_of(const Value& document);

/// Fails if the document is clearly of another kind. The path is where it stands in its own document.
Result<void> expect(FileKind kind, const Value& document, std::string_view path = "");

}  // namespace weir
