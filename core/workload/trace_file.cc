#include "core/workload/trace_file.h"

#include <set>

#include "core/document/complaints.h"
#include "core/document/file_kind.h"
#include "core/document/read_fields.h"
#include "core/document/schema.h"
#include "core/document/write_fields.h"
#include "core/workload/trace_fields.h"

namespace weir {
namespace {

// Far beyond every model. Multiplied by machines and iterations, it still fits into 64 bits.
constexpr Bytes kLargestModel{100'000'000'000'000};
constexpr Duration kLongestIteration = Duration(3'600'000'000'000) * 24;

/// Checks what must hold beyond each single field. Errors name the line.
class TraceCheck {
 public:
  TraceCheck(const Trace& trace, const Value& document, std::string path, Complaints& complaints)
      : trace_(trace), document_(document), path_(std::move(path)), complaints_(complaints) {}

  void run() {
    std::size_t tensors = 0;
    double bytes = 0;
    double seconds = 0;
    for (std::size_t i = 0; i < trace_.layers.size(); ++i) {
      const Layer& layer = trace_.layers[i];
      check_layer(layer, joined("layers", i));
      tensors += layer.tensors.size();
      for (const Tensor& tensor : layer.tensors) bytes += static_cast<double>(size(tensor).count());
      seconds += (layer.forward + layer.backward).seconds();
    }
    if (bytes > static_cast<double>(kLargestModel.count())) {
      complain("layers", fmt::format("the tensors hold {:.3g} TB together; at most {}", bytes / 1e12,
                                     text(kLargestModel)));
    }
    if (seconds > kLongestIteration.seconds()) {
      complain("layers", fmt::format("the layers take {:.0f} s together; at most {}", seconds,
                                     text(kLongestIteration)));
    }
    if (trace_.layers.empty()) {
      complain("layers", "there is no layer; give at least one");
    } else if (tensors == 0) {
      complain("layers", "no layer has a tensor, so there is nothing to communicate; give at least one");
    }
  }

 private:
  void check_layer(const Layer& layer, const std::string& path) {
    if (!layers_.insert(layer.name).second) {
      complain(joined(path, "name"), fmt::format("two layers are called '{}'; rename one", layer.name));
    }
    for (std::size_t i = 0; i < layer.tensors.size(); ++i) {
      const std::string& tensor = layer.tensors[i].name;
      if (tensors_.insert(tensor).second) continue;
      complain(joined(joined(joined(path, "tensors"), i), "name"),
               fmt::format("two tensors are called '{}'; rename one, or list a shared one only in the first "
                           "of its layers",
                           tensor));
    }
  }

  void complain(const std::string& path, const std::string& text) {
    complaints_.add(located(document_, path), joined(path_, path), text);
  }

  const Trace& trace_;
  const Value& document_;
  std::string path_;
  Complaints& complaints_;
  std::set<std::string> layers_;
  std::set<std::string> tensors_;
};

}  // namespace

Result<Trace> read_trace(const std::string& file) {
  const auto document = read_document(file);
  if (!document) return tl::unexpected(document.error());
  return read_trace(*document);
}

Result<Trace> read_trace(const Value& value, const std::string& path) {
  if (const auto kind = expect(FileKind::kTrace, value, path); !kind) return tl::unexpected(kind.error());
  auto trace = read_fields<Trace>(value, path);
  if (!trace) return trace;
  Complaints complaints;
  TraceCheck(*trace, value, path, complaints).run();
  if (!complaints.empty()) return tl::unexpected(complaints.error());
  return trace;
}

nlohmann::ordered_json write_trace(const Trace& trace) { return write_fields(trace); }

std::string trace_schema() { return schema_text<Trace>("A Weir trace"); }

}  // namespace weir
