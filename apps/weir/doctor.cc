#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "apps/weir/commands.h"
#include "apps/weir/text/errors.h"
#include "apps/weir/text/output.h"
#include "core/base/version.h"
#include "studies/doctor/host_checks.h"

namespace weir {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMargin = 24;  // width of the column before the findings

Json json_of(const real::Finding& finding) {
  Json json = {{"subject", finding.subject}, {"grade", name(finding.grade)}, {"found", finding.found}};
  if (!finding.remedy.empty()) json["remedy"] = finding.remedy;
  return json;
}

/// Indents all lines of a text after the first.
std::string indented(const std::string& text) {
  std::string lines;
  for (const char c : text) lines += c == '\n' ? "\n" + std::string(kMargin, ' ') : std::string(1, c);
  return lines;
}

void show(const real::Finding& finding) {
  print("{:<8} {:<14} {}\n", name(finding.grade), finding.subject, indented(finding.found));
  if (!finding.remedy.empty()) print("{:{}}-> {}\n", "", kMargin, indented(finding.remedy));
  std::fflush(stdout);
}

Result<ExitStatus> doctor(bool json) {
  const real::Findings all = check_this_host([json](const real::Finding& finding) {
    if (!json) show(finding);
  });
  if (json) {
    Json document = {{"weir", version()}, {"worst", name(worst(all))}, {"findings", Json::array()}};
    for (const real::Finding& finding : all) document["findings"].push_back(json_of(finding));
    print("{}\n", document.dump(2));
  }
  return worst(all) == real::Grade::kWrong ? kExitFailed : kExitWell;
}

}  // namespace

void add_doctor(CLI::App& weir, ExitStatus& status) {
  CLI::App* command = weir.add_subcommand("doctor", "Says what is missing, slow or wrong on this host");
  const auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "JSON instead of lines");
  command->footer(
      "Each line is ok, a note (good to know), a warning (it costs speed, or something does not work) or "
      "wrong,\n"
      "with what to do below it. Looks at CPUs, memory, limits, NICs, RDMA, the lab, and NVIDIA's GPUs with "
      "their\n"
      "driver, links, CUDA and NCCL. No check takes longer than 10 s. Ends with 1 if something is wrong.\n\n"
      "Examples:\n"
      "  weir doctor\n"
      "  weir doctor --json");
  command->callback([json, &status] { status = exit_status("doctor", doctor(*json)); });
}

}  // namespace weir
