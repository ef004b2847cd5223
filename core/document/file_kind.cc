#include "core/document/file_kind.h"

#include <fmt/format.h>

namespace weir {
namespace {

std::string_view noun(FileKind kind) {
  switch (kind) {
    case FileKind::kTopology:
      return "a topology";
    case FileKind::kTrace:
      return "a trace";
    case FileKind::kExperiment:
      return "an experiment";
    case FileKind::kSettings:
      return "a settings file";
  }
  return {};
}

}  // namespace

std::optional<FileKind> kind_of(const Value& document) {
  if (document.find("groups") != nullptr) return FileKind::kTopology;
  if (document.find("layers") != nullptr) return FileKind::kTrace;
  for (const char* key : {"topology", "trace", "strategies", "sweep", "question"}) {
    if (document.find(key) != nullptr) return FileKind::kExperiment;
  }
  if (document.find("settings") != nullptr) return FileKind::kSettings;
  return std::nullopt;
}

Result<void> expect(FileKind kind, const Value& document, std::string_view path) {
  const std::optional<FileKind> found = kind_of(document);
  if (!found || *found == kind) return {};
  return failure(complaint(document, path, fmt::format("this is {}; expected {}", noun(*found), noun(kind))));
}

}  // namespace weir
