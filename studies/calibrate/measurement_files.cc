#include "studies/calibrate/measurement_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "backends/real/transport/wires.h"
#include "core/base/hash.h"
#include "core/calibrate/bench_points.h"
#include "core/calibrate/other_cluster.h"
#include "core/experiment/run_inputs.h"
#include "core/report/report.h"
#include "core/run/world_names.h"
#include "studies/run/kept_record.h"

namespace weir {
namespace {

namespace fs = std::filesystem;

NicEngines nic_engines() {
  NicEngines engines;
  for (const real::Wire& wire : real::wires()) {
    if (wire.traits.uses_devices) engines.push_back(wire.name);
  }
  return engines;
}

Point without_source(Point point) {
  point.source.clear();
  return point;
}

// A run's inputs and the time it took, to the nanosecond.
using KnownRun = std::pair<std::string, std::int64_t>;

class Files {
 public:
  Files(const MeasurementFiles& files, const Topology& topology)
      : rows_{files.experiment}, topology_(topology) {}

  Result<void> read(const std::string& named) {
    const std::size_t equals = named.find('=');
    std::error_code ignored;
    if (equals == std::string::npos || fs::exists(named, ignored)) return read(named, "");
    const std::string group = named.substr(0, equals);
    const bool known = std::any_of(topology_.groups.begin(), topology_.groups.end(),
                                   [&](const GroupSpec& spec) { return spec.name == group; });
    if (!known) return failure(fmt::format("{}: the topology has no group '{}'", named, group));
    return read(named.substr(equals + 1), group);
  }

  ReadMeasurements& all() { return all_; }

 private:
  Result<void> read(const std::string& file, const std::string& group) {
    std::error_code ignored;
    if (fs::is_directory(file, ignored))
      return failure(
          file +
          ": this is a folder; name files of measurements, such as the results.json that weir run writes");
    if (fs::path(file).extension() == ".record") return take_record(file);
    const auto text = read_text(file);
    if (!text) return tl::unexpected(text.error());
    if (text->starts_with("SQLite format 3"))
      return failure(fmt::format("{}: this is a database of weir sweep; pass its folder to weir report; {}",
                                 file, no_measurement(kFluidWorld)));
    if (fs::path(file).extension() == ".jsonl") return take_lines(*text, file, group);
    if (fs::path(file).extension() == ".csv") return take(read_csv(*text, file, rows_));
    const auto document = parse_document(*text, file);
    if (!document && nccl::is_nccl_tests(*text)) return take(read_points(*text, file, group));
    if (!document) return tl::unexpected(document.error());
    return take_document(*document, file, group);
  }

  Result<void> take_document(const Value& document, const std::string& file, const std::string& group) {
    if (has_points(document)) return take(read_points(document, file, group, nic_engines()));
    const Value* rows = document.find("rows");
    if (rows != nullptr && rows->is(Value::Kind::kArray) && rows->elements().empty())
      return failure(complaint(*rows, "rows", "is empty: nothing was measured"));
    if (is_results(document)) return take(read_results(document, file));
    if (document.find("benchmark") != nullptr && document.find("workers") != nullptr)
      return failure(complaint(document, "", no_measurement(kLocalWorld)));
    return failure(complaint(document, "",
                             "this is not a known kind of measurement; expected a file from weir bench "
                             "--json, weir run (results.json, results.csv, .record) or nccl-tests"));
  }

  // A file with a single line may be a benchmark's JSON document.
  Result<void> take_lines(const std::string& text, const std::string& file, const std::string& group) {
    const auto document = parse_document(text, file);
    if (document && document->find("rows") != nullptr) return take_document(*document, file, group);
    return take(read_lines(text, file, rows_));
  }

  Result<void> take_record(const std::string& file) {
    const auto kept = kept_record(file, {});
    if (!kept) return tl::unexpected(kept.error());
    const std::string_view why = no_measurement(kept->header.world);
    if (!why.empty()) return failure(fmt::format("{}:1: world: {}", file, why));
    const Recorded recorded = kept->recorded();
    const Duration iteration =
        report(recorded.plan, recorded.cluster, recorded.workload, recorded.record, recorded.warm_up)
            .iteration;
    if (iteration <= Duration(0)) return failure(file + ": its iterations take no time");
    RealRuns runs;
    runs.runs.push_back(
        {file, std::make_shared<const Experiment>(kept->of->experiment), kept->header.strategy, iteration});
    return take(Result<RealRuns>(std::move(runs)));
  }

  // Skips a time or run that an earlier file also contains. Counted twice, it would be held out against
  // itself, and fits would look more certain than they are.
  Result<void> take(Result<std::vector<Point>> points) {
    if (!points) return tl::unexpected(points.error());
    std::vector<Point> own;
    std::size_t doubles = 0;
    for (const Point& point : *points) {
      const bool again = earlier_.contains(without_source(point));
      doubles += again ? 1 : 0;
      if (again) continue;
      own.push_back(without_source(point));
      all_.measurements.points.push_back(point);
    }
    earlier_.insert(own.begin(), own.end());
    if (doubles > 0)
      all_.remarks.push_back(fmt::format("{} of {} times are left out: {}: an earlier file has them too",
                                         doubles, points->size(), points->front().source));
    return {};
  }

  Result<void> take(Result<RealRuns> runs) {
    if (!runs) return tl::unexpected(runs.error());
    all_.remarks.insert(all_.remarks.end(), runs->remarks.begin(), runs->remarks.end());
    std::map<std::string, std::size_t> others;  // by reason: how many
    std::vector<KnownRun> own;
    for (RealRun& run : runs->runs) {
      if (const auto other = other_cluster(topology_, run.experiment->topology)) {
        ++others[fmt::format("{}: they are of another cluster: {}", run.source, *other)];
        continue;
      }
      own.emplace_back(hash_of(RunInputs(*run.experiment).text(run.contender, 0)), run.iteration.ns());
      if (known_runs_.contains(own.back())) {
        ++others[run.source + ": an earlier file has them too"];
        continue;
      }
      all_.measurements.runs.push_back(std::move(run));
    }
    known_runs_.insert(own.begin(), own.end());
    for (const auto& [why, count] : others)
      all_.remarks.push_back(fmt::format("{} runs are left out: {}", count, why));
    return {};
  }

  RowsOf rows_;
  const Topology& topology_;
  std::set<Point> earlier_;  // without their sources
  std::set<KnownRun> known_runs_;
  ReadMeasurements all_;
};

}  // namespace

Result<ReadMeasurements> read_measurements(const MeasurementFiles& files, const Topology& topology) {
  Files all(files, topology);
  for (const std::string& file : files.files) {
    if (const auto read = all.read(file); !read) return tl::unexpected(read.error());
  }
  return std::move(all.all());
}

}  // namespace weir
