#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "apps/weir/commands.h"
#include "apps/weir/options/input.h"
#include "apps/weir/text/output.h"
#include "studies/output/files.h"
#include "studies/report/report_page.h"

namespace weir {
namespace {

struct ReportChoices {
  std::string folder;
  std::string page;
};

Result<ExitStatus> report(const ReportChoices& choices) {
  const auto sweep = SweepFolder::read(choices.folder);
  if (!sweep) return wrong("report", sweep.error());
  if (const auto whole = sweep->stored.whole(); !whole) {
    return wrong("report", Error{whole.error().text +
                                 "\nthe page would lack the results in these files; repair or move them"});
  }
  const std::string page = choices.page.empty() ? choices.folder + "/report.html" : choices.page;
  if (const auto apart = check_no_input(page, sweep->files(choices.folder)); !apart)
    return wrong("report", apart.error());
  const auto written = write_text(page, report_page(*sweep, choices.folder, page));
  if (!written) return tl::unexpected(written.error());
  print("{}\n", page);
  return kExitWell;
}

}  // namespace

void add_report(CLI::App& weir, ExitStatus& status) {
  CLI::App* command = weir.add_subcommand("report", "Makes a page of a sweep's results, finished or not");
  const auto choices = std::make_shared<ReportChoices>();
  command->add_option("results", choices->folder, "The folder of a sweep")->required()->type_name("FOLDER");
  command->add_option("-o,--out", choices->page, "The page (report.html in the folder)")->type_name("FILE");
  command->footer(
      "One HTML file, which any browser opens offline: the best point of each strategy, speed-ups over the\n"
      "baseline, the effect of each varied value, what binds, what failed and why, versions and seeds, and\n"
      "every run.\n\n"
      "Example:\n"
      "  weir report results/sensitivity -o report.html");
  command->callback([choices, &status] { status = exit_status("report", report(*choices)); });
}

}  // namespace weir
