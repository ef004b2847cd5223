#include "core/document/write_fields.h"

#include <utility>

namespace weir {

void Writer::put(std::string_view name, nlohmann::ordered_json value) {
  object_[std::string(name)] = std::move(value);
}

}  // namespace weir
