// Helpers for tests of experiment files.
#pragma once

#include "core/experiment/experiment_file.h"
#include "tests/core/experiment/folder.h"

namespace weir {

inline constexpr const char* kTopology = R"({"name": "lab", "groups": [
  {"name": "gpu", "count": 2, "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": "8Gbps"}]},
  {"name": "cpu", "count": 1, "nics": [{"at": "numa0", "rate": "8Gbps"}]}]})";

inline constexpr const char* kTrace = R"({"name": "net", "layers": [
  {"name": "a", "forward": "1ms", "backward": "2ms", "tensors": [{"name": "w", "elements": 1000}]}]})";

/// A folder with a topology, a trace, and an experiment with these lines from line 2 on.
class Files {
 public:
  explicit Files(const std::string& lines) {
    folder_.write("lab.json", kTopology);
    folder_.write("net.json", kTrace);
    folder_.write("experiment.json",
                  "{\"topology\": \"lab.json\", \"trace\": \"net.json\",\n" + lines + "}\n");
  }

  Result<ExperimentFile> read(const std::vector<std::string>& settings = {}) const {
    std::vector<Setting> parsed;
    for (const std::string& text : settings) parsed.push_back(parse_setting(text).value());
    return ExperimentFile::read(folder_.path(), parsed);
  }

  /// The error of the file or of its first wrong point, without the folder's name.
  std::string error(const std::vector<std::string>& settings = {}) const {
    const auto file = read(settings);
    std::string text = file ? "" : file.error().text;
    for (std::size_t i = 0; file && i < file->points() && text.empty(); ++i) {
      const auto experiment = file->experiment(file->point(i));
      if (!experiment) text = experiment.error().text;
    }
    const std::string prefix = folder_.path() + "/";
    for (auto at = text.find(prefix); at != std::string::npos; at = text.find(prefix))
      text.erase(at, prefix.size());
    return text.empty() ? "no error" : text;
  }

  const Folder& folder() const { return folder_; }

 private:
  Folder folder_;
};

}  // namespace weir
