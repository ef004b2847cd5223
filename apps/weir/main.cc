#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <new>
#include <sstream>
#include <string>

#include "apps/weir/commands.h"
#include "apps/weir/text/output.h"
#include "core/base/version.h"

namespace {

// Says what is missing on the command line, with the first example of the command's help.
void print_missing(const CLI::App& weir, const CLI::RequiredError& error) {
  const CLI::App* command = &weir;
  std::string name = "weir";
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    name += ' ' + command->get_name();
  }
  std::string example;
  std::istringstream footer(command->get_footer());
  for (std::string line; example.empty() && std::getline(footer, line);) {
    if (line.starts_with("  weir ")) example = "; for example: " + line.substr(2);
  }
  fmt::print(stderr, "{}: {}{}\nAll options: {} --help\n", name, error.what(), example, name);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App weir(
      "Plans, simulates and runs the gradient communication of data-parallel training on clusters of GPU and "
      "CPU machines.");
  weir.name("weir");
  weir.set_version_flag("--version", fmt::format("weir {}", weir::version()));
  weir.require_subcommand(1);
  weir.footer(
      "Begin with: weir run experiments/quickstart\n"
      "All options of a command: weir run --help\n"
      "Ends with 0 if all is well, 1 if something failed, 2 if the command line or a file is wrong.");
  weir::ExitStatus status = weir::kExitWell;
  weir::add_run(weir, status);
  weir::add_sweep(weir, status);
  weir::add_report(weir, status);
  weir::add_plan(weir, status);
  weir::add_bound(weir, status);
  weir::add_whatif(weir, status);
  weir::add_tune(weir, status);
  weir::add_compare(weir, status);
  weir::add_calibrate(weir, status);
  weir::add_check(weir, status);
  weir::add_discover(weir, status);
  weir::add_doctor(weir, status);
  weir::add_import(weir, status);
  weir::add_trace(weir, status);
  weir::add_export(weir, status);
  weir::add_launch(weir, status);
  weir::add_node(weir, status);
  weir::add_bench(weir, status);
  weir::add_lab(weir, status);
  try {
    weir.parse(argc, argv);
  } catch (const CLI::RequiredError& error) {
    // CLI11 reports an unknown command as a missing one.
    const std::string word = argc > 1 ? argv[1] : "";
    if (weir.get_subcommands().empty() && !word.empty() && word.front() != '-') {
      fmt::print(stderr, "weir: unknown command '{}'; weir --help lists all commands\n", word);
    } else {
      print_missing(weir, error);
    }
    status = weir::kExitWrong;
  } catch (const CLI::ParseError& error) {
    status = weir.exit(error) == 0 ? weir::kExitWell : weir::kExitWrong;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr,
               "weir: there is not enough memory for so large a plan; try fewer machines or larger parts\n");
    status = weir::kExitFailed;
  } catch (const std::exception& error) {  // thrown by a library
    fmt::print(stderr, "weir: {}\n", error.what());
    status = weir::kExitFailed;
  }
  return weir::flushed(status);
}
