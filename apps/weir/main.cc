#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <new>

#include "apps/weir/commands.h"
#include "apps/weir/text/output.h"
#include "apps/weir/text/usage_error.h"
#include "core/base/version.h"

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
  } catch (const CLI::Success& asked) {  // for help or for the version
    weir.exit(asked);
  } catch (const CLI::ParseError& error) {
    status = weir::wrong_usage(weir, error);
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
