#include "studies/sweep/sweep_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "core/document/read_fields.h"
#include "studies/output/files.h"
#include "studies/sweep/active_workers.h"
#include "studies/sweep/run_key.h"

namespace weir {

namespace {

namespace fs = std::filesystem;

constexpr const char* kDesign = "design.json";

// What design.json contains besides the study.
struct Keys {
  std::string program;
  std::vector<std::string> keys;
  Value study;
};

template <class Visitor>
void fields(Visitor& visitor, Keys& keys) {
  visitor.required("program", keys.program, "that computes it");
  visitor.required("keys", keys.keys, "of all runs");
  visitor.required("study", keys.study, "what is to run");
}

std::string file_in(const std::string& folder) { return fmt::format("{}/{}", folder, kDesign); }

}  // namespace

Result<Design> design_of(const ExperimentFile& file, const World& world) {
  const auto program = program_identity();
  if (!program) return tl::unexpected(program.error());
  Design design;
  design.program = *program;
  const auto configuration = configuration_of(file, [&](const Experiment& experiment) {
    const RunInputs inputs(experiment);
    for (const std::string& strategy : experiment.strategies)
      for (const std::uint64_t seed : experiment.seeds)
        design.keys.push_back(run_key(inputs, strategy, seed, *program, world));
  });
  if (!configuration) return tl::unexpected(configuration.error());
  design.study = study_of(file, *configuration, world);
  return design;
}

std::vector<std::size_t> Design::distinct() const {
  std::set<std::string> seen;
  std::vector<std::size_t> runs;
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (seen.insert(keys[i]).second) runs.push_back(i);
  return runs;
}

std::string text(const Design& design) {
  const nlohmann::ordered_json own = {{"program", design.program}, {"keys", design.keys}};
  std::string text = own.dump();
  text.pop_back();
  return fmt::format("{},\"study\":{}}}\n", text, weir::text(design.study));
}

Result<void> SweepFolder::make(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return failure(fmt::format("{}: cannot be made: {}", folder, error.message()));
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return failure(fmt::format("{}: cannot be written: {}", folder, std::strerror(errno)));
  return {};
}

Result<void> SweepFolder::write(const std::string& folder, const std::string& design) {
  const auto known = read_text(file_in(folder));
  if (known && *known == design) return {};
  // First under a name unique to this process, because others of this sweep write the same file.
  const std::string own = fmt::format("{}.{}-{}", file_in(folder), this_worker({}, 1, "").host, ::getpid());
  if (auto written = write_text(own, design); !written) return written;
  std::error_code error;
  fs::rename(own, file_in(folder), error);
  if (error) return failure(fmt::format("{}: cannot be written: {}", file_in(folder), error.message()));
  return {};
}

Result<SweepFolder> SweepFolder::read(const std::string& folder) {
  std::error_code ignored;
  if (!fs::exists(file_in(folder), ignored)) {
    return failure(
        fmt::format("{}: there is no sweep in this folder; weir sweep DESIGN.json --results {} starts one",
                    folder, folder));
  }
  const auto document = read_document(file_in(folder));
  if (!document) return tl::unexpected(document.error());
  auto keys = read_fields<Keys>(*document);
  if (!keys) return tl::unexpected(keys.error());
  auto study = study_from(keys->study, "study");
  if (!study) return tl::unexpected(study.error());
  if (keys->keys.size() != study->points.size() * study->runs_per_point())
    return failure(complaint(*document, "keys", "expected one key for each run"));
  auto stored = SweepResults::read(folder);
  if (!stored) return tl::unexpected(stored.error());
  return SweepFolder{{std::move(*study), std::move(keys->program), std::move(keys->keys)},
                     std::move(*stored)};
}

std::vector<std::string> SweepFolder::files(const std::string& folder) {
  std::error_code ignored;
  std::vector<std::string> files = SweepResults::files(folder, ignored);
  files.push_back(file_in(folder));
  return files;
}

const StoredResult* SweepFolder::stored_result(std::size_t run) const {
  const auto found = stored.found.find(design.keys[run]);
  return found == stored.found.end() ? nullptr : &found->second;
}

Results SweepFolder::results(const std::string& folder) const {
  Results results(design.study, folder);
  for (std::size_t i = 0; i < design.keys.size(); ++i) {
    const StoredResult* stored_result = this->stored_result(i);
    if (stored_result == nullptr) continue;
    Outcome outcome = stored_result->outcome;
    outcome.row.strategy = results.runs()[i].trial.strategy;  // it may be another name for the same run
    results.add(i, std::move(outcome));
  }
  return results;
}

}  // namespace weir
