// weir trace record. Only PyTorch knows what a model does, so Python records it (weir.torch.trace).
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
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

// What frontends/python/weir/torch/trace.py accepts. This help needs no PyTorch.
constexpr const char* kHelp =
    "Runs a PyTorch model for some steps and writes a trace of its layers (docs/pytorch.md).\n\n"
    "Usage: weir trace record FILE --out TRACE [--name NAME] [--steps STEPS]\n\n"
    "  FILE           a Python file with a function iteration_to_trace(), which returns the model, a "
    "function\n"
    "                 that runs forward and backward once, the number of samples in that, and what a sample\n"
    "                 is called\n"
    "  --out TRACE    the trace file to write\n"
    "  --name NAME    the name of the trace (default: the name of the file)\n"
    "  --steps STEPS  iterations to take the medians of (20)\n\n"
    "Needs PyTorch, and Weir's Python package (pip install .).\n\n"
    "Example:\n"
    "  weir trace record my_model.py --out my_model.json\n";

// Returns only if it fails or prints the help.
ExitStatus record(const std::vector<std::string>& arguments) {
  const auto asks = [](const std::string& argument) { return argument == "-h" || argument == "--help"; };
  if (std::any_of(arguments.begin(), arguments.end(), asks)) {
    fmt::print("{}", kHelp);
    return kExitWell;
  }
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
