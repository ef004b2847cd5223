#include "core/formats/imported_trace.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/document/spelling.h"
#include "core/workload/trace_file.h"

namespace weir {
namespace {

constexpr std::size_t kLongestName = 180;  // 200 are allowed, which leaves room for a number

/// Makes names unique.
class Unique {
 public:
  std::string of(const std::string& wanted) {
    std::string name = on_one_line(wanted);
    if (name.size() > kLongestName) name = name.substr(name.size() - kLongestName);  // the end says most
    if (name.empty()) name = "unnamed";
    std::string tried = name;
    while (!taken_.insert(tried).second)
      tried = fmt::format("{} {}", name, ++last_.try_emplace(name, 1).first->second);
    return tried;
  }

 private:
  std::set<std::string> taken_;
  std::map<std::string, int> last_;
};

// Makes names fit for trace files: without control characters, not too long, and unique ("linear", "linear
// 2").
void make_names_unique(Trace& trace) {
  Unique layers;
  Unique tensors;
  for (Layer& layer : trace.layers) {
    layer.name = layers.of(layer.name);
    for (Tensor& tensor : layer.tensors) tensor.name = tensors.of(layer.name + "." + tensor.name);
  }
}

// "resnet" of "runs/resnet.pt.trace.json.gz".
std::string name_of_file(const std::string& file) {
  std::string name = std::filesystem::path(file).filename().string();
  for (const std::string_view end : {".gz", ".json", ".et", ".trace", ".pt"}) {
    if (name.size() > end.size() && name.ends_with(end)) name.erase(name.size() - end.size());
  }
  return name;
}

}  // namespace

void spread_by_bytes(Trace& trace, Duration time) {
  const Wide total = size(trace).count();
  Wide before = 0;
  std::int64_t given = 0;
  for (Layer& layer : trace.layers) {
    for (const Tensor& tensor : layer.tensors) before += size(tensor).count();
    const auto upto = static_cast<std::int64_t>(before * time.ns() / total);
    layer.forward += Duration(upto - given);
    given = upto;
  }
}

Result<ImportedTrace> finished(Trace trace, const AboutTrace& about, const std::string& file,
                               const std::vector<std::string>& remarks) {
  trace.name = about.name.empty() ? name_of_file(file) : about.name;
  trace.batch = about.batch;
  trace.sample = about.sample;
  make_names_unique(trace);
  const auto text = write_trace(trace).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const auto document = parse_document(text, file);
  if (!document) return tl::unexpected(document.error());
  auto right = read_trace(*document);
  if (!right) return tl::unexpected(right.error());
  ImportedTrace imported{std::move(*right), {}};
  for (const std::string& remark : remarks) imported.remarks.push_back(fmt::format("{}: {}", file, remark));
  if (!about.states_batch()) {
    imported.remarks.push_back(
        fmt::format("{}: the file does not state a batch; give it with --batch and --sample", file));
  }
  return imported;
}

}  // namespace weir
