#include "studies/run/suite.h"

#include <fmt/format.h>

#include <filesystem>

namespace weir {
namespace {

namespace fs = std::filesystem;

// "quickstart" for experiments/quickstart/experiment.json and for experiments/quickstart.json.
fs::path named(const fs::path& file) {
  return file.filename() == "experiment.json" ? file.parent_path() : fs::path(file).replace_extension();
}

// Reads the experiment in the file, which the input names itself or as part of a suite.
Result<SuiteExperiment> experiment_in(const std::string& file, const Input& input, const std::string& out,
                                      const Notice& notice) {
  Input one = input;
  one.file = file;
  auto read = one.read();
  if (!read) return tl::unexpected(read.error());
  constexpr std::size_t kMany = 1000;
  if (read->points() >= kMany) notify(notice, fmt::format("checking {} points first", read->points()));
  auto configuration = configuration_of(*read);
  if (!configuration) return tl::unexpected(configuration.error());
  const fs::path whole = fs::absolute(input.file).lexically_normal();
  const fs::path own = named(fs::absolute(read->name()).lexically_normal());
  if (file == input.file) {
    const std::string name = own.filename().string();
    const fs::path folder = out.empty() ? fs::path("results") / name : fs::path(out);
    return SuiteExperiment{name, folder.string(), std::move(*read), std::move(*configuration)};
  }
  const fs::path suite = whole.has_filename() ? whole.filename() : whole.parent_path().filename();
  const fs::path name = own.lexically_relative(whole);
  const fs::path folder = out.empty() ? "results" / suite : fs::path(out);
  return SuiteExperiment{name.string(), (folder / name).string(), std::move(*read),
                         std::move(*configuration)};
}

}  // namespace

Result<std::vector<SuiteExperiment>> read_suite(const Input& input, const std::string& out,
                                                const Notice& notice) {
  const auto files = input.experiments();
  if (!files) return tl::unexpected(files.error());
  std::vector<SuiteExperiment> experiments;
  std::vector<std::string> complaints;
  for (const std::string& file : *files) {
    if (auto experiment = experiment_in(file, input, out, notice)) {
      experiments.push_back(std::move(*experiment));
    } else {
      complaints.push_back(experiment.error().text);
    }
  }
  if (!complaints.empty()) return failure(fmt::format("{}", fmt::join(complaints, "\n")));
  return experiments;
}

}  // namespace weir
