#include "apps/weir/import_trace.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "apps/weir/options/input.h"
#include "apps/weir/text/output.h"
#include "core/base/units_text.h"
#include "core/formats/chakra/chakra.h"
#include "core/formats/kineto/kineto.h"
#include "core/workload/trace_file.h"
#include "studies/output/files.h"

namespace weir {
namespace {

/// Options that both formats share.
struct TraceOptions {
  std::string out;
  AboutTrace about;
  bool no_update = false;

  AboutTrace about_trace() const {
    AboutTrace all = about;
    all.update = !no_update;
    return all;
  }
};

void add_trace_options(CLI::App& command, TraceOptions& options) {
  command.add_option("--out,--output", options.out, "Where the trace goes (the standard output if left out)")
      ->type_name("FILE");
  command.add_option("--name", options.about.name, "The trace's name (default: the file's name)");
  command.add_option("--batch", options.about.batch, "Samples in an iteration")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000}));
  command.add_option("--sample", options.about.sample, "What a sample is called: image, token");
  command.add_flag(
      "--no-update", options.no_update,
      "Leaves out the work after the last gradient, such as the optimizer's step. By default this work is\n"
      "spread over the layers' forward passes, in proportion to their bytes");
}

Result<ExitStatus> deliver(const Result<ImportedTrace>& made, const std::string& out) {
  if (!made) return wrong("import", made.error());
  for (const std::string& remark : made->remarks) print_error("weir import: {}\n", remark);
  const Trace& trace = made->trace;
  const std::string text = write_trace(trace).dump(1) + "\n";
  if (out.empty()) {
    print("{}", text);
    return kExitWell;
  }
  if (const auto written = write_text(out, text); !written) return tl::unexpected(written.error());
  Duration forward;
  std::size_t tensors = 0;
  for (const Layer& layer : trace.layers) {
    forward += layer.forward;
    tensors += layer.tensors.size();
  }
  print("{}: {} layers, {} tensors of {}; forward {}, backward {}\n", out, trace.layers.size(), tensors,
        rounded(size(trace)), rounded(forward), rounded(compute_time(trace) - forward));
  return kExitWell;
}

template <class Import>
Result<ExitStatus> import_trace(Result<ImportedTrace> (*import)(const Import&), Import what,
                                const TraceOptions& options) {
  if (const auto apart = check_no_input(options.out, what.files); !apart)
    return wrong("import", apart.error());
  what.about = options.about_trace();
  return deliver(import(what), options.out);
}

struct KinetoChoices {
  KinetoImport import;
  TraceOptions trace;
};

void add_kineto(CLI::App& command, ExitStatus& status) {
  CLI::App* one = command.add_subcommand(
      "kineto", "Makes a trace from a recording of PyTorch's profiler (.json, .json.gz)");
  const auto choices = std::make_shared<KinetoChoices>();
  one->add_option("files", choices->import.files, "One file, or several of one job with --rank")
      ->required()
      ->type_name("FILE");
  one->add_option("--rank", choices->import.rank, "Takes the file of this rank")->check(whole_number_from(0));
  one->add_option("--step", choices->import.step, "Takes ProfilerStep#N (default: the last complete step)")
      ->type_name("N");
  add_trace_options(*one, choices->trace);
  one->footer(
      "Each op of the forward pass that uses parameters becomes a layer, named after its module if modules\n"
      "were recorded. Times are measured on the GPU's stream, without the times in which only collectives\n"
      "run. If the file has no work of a GPU, they are measured on the CPU's thread.\n\n"
      "To record: with torch.profiler.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],\n"
      "record_shapes=True, with_stack=True, schedule=schedule(wait=0, warmup=3, active=2)) as prof, and\n"
      "prof.step() after each iteration; then prof.export_chrome_trace('resnet.json.gz').\n\n"
      "Examples:\n"
      "  weir import kineto resnet.json.gz --batch 256 --sample image --out resnet.json\n"
      "  weir import kineto log/*.pt.trace.json --rank 0 --step 12 --out rank0.json");
  one->callback([choices, &status] {
    status = exit_status("import", import_trace(import_kineto, choices->import, choices->trace));
  });
}

struct ChakraChoices {
  ChakraImport import;
  TraceOptions trace;
  std::string dtype = "f32";
};

void add_chakra(CLI::App& command, ExitStatus& status) {
  CLI::App* one = command.add_subcommand(
      "chakra", "Makes a trace from a Chakra execution trace of MLCommons (.et, .et.gz)");
  const auto choices = std::make_shared<ChakraChoices>();
  one->add_option("files", choices->import.files, "One file for each rank; the slowest rank sets the times")
      ->required()
      ->type_name("FILE");
  one->add_option("--group", choices->import.group,
                  "The process group (pg_name) whose collectives sum gradients, if there are several");
  one->add_option("--dtype", choices->dtype,
                  "The element type of gradients, which the file does not state (f32)")
      ->check(CLI::IsMember({"f16", "bf16", "f32", "f64"}));
  add_trace_options(*one, choices->trace);
  one->footer(
      "Each all-reduce, reduce or reduce-scatter becomes a layer. Its backward time is what the device\n"
      "computes until its bytes are ready. The backward pass begins at the first node with 'backward' or\n"
      "'bwd' in its name. If there is none, the first third of the computation counts as the forward pass.\n"
      "Forward times are spread over layers like backward times. Other collectives, sends and receives are\n"
      "left out; standard error says how many.\n\n"
      "Examples:\n"
      "  weir import chakra resnet.0.et --batch 256 --sample image --out resnet.json\n"
      "  weir import chakra llama.*.et --group 12 --dtype bf16 --out llama.json");
  one->callback([choices, &status] {
    ChakraImport what = choices->import;
    what.dtype = *dtype_named(choices->dtype);
    status = exit_status("import", import_trace(import_chakra, what, choices->trace));
  });
}

}  // namespace

void add_trace_imports(CLI::App& command, ExitStatus& status) {
  add_kineto(command, status);
  add_chakra(command, status);
}

}  // namespace weir
