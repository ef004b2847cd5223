// weir trace record. Only PyTorch knows what a model does, so Python records it (weir.torch.trace).
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "apps/weir/commands.h"

namespace weir {
namespace {

constexpr const char* kPython = "python3";
constexpr const char* kProgram =
    "import sys\n"
    "try:\n"
    "    from weir.torch.trace import main\n"
    "except ImportError as why:\n"
    "    sys.exit(f'weir trace record: {sys.executable} cannot load weir.torch.trace: {why}. "
    "Install PyTorch, and Weir with: pip install .')\n"
    "main()\n";

// Returns only if it fails.
ExitStatus record(const std::vector<std::string>& arguments) {
  std::vector<const char*> words = {kPython, "-c", kProgram};
  for (const std::string& argument : arguments) words.push_back(argument.c_str());
  words.push_back(nullptr);
  execvp(kPython, const_cast<char* const*>(words.data()));
  fmt::print(stderr, "weir trace record: cannot start {}: {}\n", kPython, std::strerror(errno));
  return kExitFailed;
}

}  // namespace

void add_trace(CLI::App& weir, ExitStatus& status) {
  CLI::App* trace = weir.add_subcommand("trace", "Records traces of models");
  trace->require_subcommand(1);
  CLI::App* command = trace->add_subcommand(
      "record", "Runs a PyTorch model for some steps and writes a trace of its layers (docs/pytorch.md)");
  command->prefix_command();  // the remaining arguments are for Python
  command->set_help_flag();
  command->callback([command, &status] { status = record(command->remaining()); });
}

}  // namespace weir
