#include "core/calibrate/calibrate.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "apps/weir/commands.h"
#include "apps/weir/options/input.h"
#include "apps/weir/text/calibrate_text.h"
#include "apps/weir/text/output.h"
#include "core/base/version.h"
#include "core/formats/topology_text.h"
#include "studies/calibrate/measurement_files.h"
#include "studies/output/files.h"

namespace weir {
namespace {

constexpr double kMostHeldOut = 0.9;

struct CalibrateChoices {
  std::string topology;
  std::vector<std::string> settings;
  MeasurementFiles files;
  HoldOut hold_out;
  std::string output;
  bool json = false;
};

Result<ExitStatus> calibrate_topology(const CalibrateChoices& choices) {
  const auto topology = topology_of(choices.topology, choices.settings);
  if (!topology) return wrong("calibrate", topology.error());
  if (!choices.output.empty()) {
    std::vector<std::string> inputs = choices.files.files;
    for (const std::string& named : choices.files.files) inputs.push_back(named.substr(named.find('=') + 1));
    const std::string& experiment = choices.files.experiment;
    inputs.insert(inputs.end(), {experiment, experiment + "/experiment.json"});
    if (const auto apart = check_no_input(choices.output, inputs); !apart)
      return wrong("calibrate", apart.error());
    if (const auto open = check_writable(choices.output); !open) return tl::unexpected(open.error());
  }
  auto read = read_measurements(choices.files, *topology);
  if (!read) return wrong("calibrate", read.error());
  if (const std::size_t runs = read->measurements.runs.size(); runs > 0)
    print_error("weir calibrate: fitting {} runs, which are simulated again and again\n", runs);
  auto calibrated = calibrate(*topology, read->measurements, choices.hold_out);
  for (const std::string& remark : read->remarks) print_error("weir calibrate: {}\n", remark);
  if (!calibrated) return wrong("calibrate", calibrated.error());
  for (const std::string& remark : calibrated->remarks) print_error("weir calibrate: {}\n", remark);
  calibrated->topology.calibration->weir = version();
  // Print before writing the file: a fit takes long, and its result must survive a failed write.
  print("{}", choices.json ? json(*calibrated) : text(*calibrated));
  if (choices.output.empty()) return kExitWell;
  const auto written = write_text(choices.output, topology_text(calibrated->topology));
  if (!written) return tl::unexpected(written.error());
  if (!choices.json) print("\n{} is calibrated\n", choices.output);
  return kExitWell;
}

}  // namespace

void add_calibrate(CLI::App& weir, ExitStatus& status) {
  CLI::App* command =
      weir.add_subcommand("calibrate", "Fits a topology's values to what was measured on its cluster");
  const auto choices = std::make_shared<CalibrateChoices>();
  command->add_option("topology", choices->topology, "A topology file")->required()->type_name("FILE");
  command
      ->add_option("measurements", choices->files.files,
                   "What was measured; GROUP=FILE was measured on machines of one group only")
      ->required()
      ->type_name("FILES");
  command->add_option("--output", choices->output, "Where the calibrated topology goes (nowhere if left out)")
      ->type_name("FILE");
  command
      ->add_option("--experiment", choices->files.experiment,
                   "The experiment, if the measurements do not name it: lines of JSON, or a\n"
                   "results.csv that was moved")
      ->type_name("FILE_OR_FOLDER");
  command
      ->add_option("--hold-out", choices->hold_out.fraction,
                   "The fraction that is not fitted, but predicted to see how large the errors are")
      ->check(number_within(0.0, kMostHeldOut))
      ->capture_default_str();
  command->add_option("--seed", choices->hold_out.seed, "Chooses what is held out")
      ->check(whole_number_from(0))
      ->capture_default_str();
  add_topology_settings(*command, choices->settings);
  command->add_flag("--json", choices->json, "JSON instead of tables, with every run");
  command->footer(
      "Reads these files: the output of weir bench sum, copy and transport with --json; tables and JSON of\n"
      "nccl-tests; and results.json, results.csv and records of weir run --on lab or cluster. Benchmarks\n"
      "give the rates of sums, memory, GPUs, NICs and NVLink. Real runs give the rates of links and the\n"
      "cost of messages: the values with which simulation predicts the runs best. Outliers are ignored.\n"
      "The calibrated topology states what each of these values was measured on. Simulations then label\n"
      "their results: calibrated, extrapolated, or vendor constant.\n\n"
      "Examples:\n"
      "  weir bench sum --json > sum.json && weir calibrate mine.json cpu=sum.json --output measured.json\n"
      "  weir run mine --on lab --out lab && weir calibrate mine.json lab/results.json --hold-out 0.5");
  command->callback([choices, &status] { status = exit_status("calibrate", calibrate_topology(*choices)); });
}

}  // namespace weir
