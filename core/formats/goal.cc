#include "core/formats/goal.h"

#include <fmt/format.h>

#include <iterator>
#include <limits>

namespace weir {
namespace {

constexpr int kMostCpus = 256;  // one byte
// Readers take tags as signed or unsigned, and the largest value as "any tag".
constexpr std::size_t kMostTags = std::numeric_limits<std::int32_t>::max();

class ScheduleWriter {
 public:
  ScheduleWriter(const Plan& plan, std::span<const GoalWork> works, int iterations)
      : plan_(plan), works_(works), iterations_(iterations) {}

  std::string text() {
    fmt::format_to(end(), "// {}: {}\nnum_ranks {}\n", plan_.strategy(),
                   iterations_ == 1 ? "one iteration" : fmt::format("{} iterations", iterations_),
                   plan_.machines());
    for (std::size_t i = 0; i < plan_.machines(); ++i) {
      const auto ops = plan_.ops(MachineId(i));
      fmt::format_to(end(), "\nrank {} {{\n", i);
      if (ops.empty()) text_ += "idle: calc 0\n";
      for (int iteration = 0; iteration < iterations_; ++iteration) {
        for (const Op& op : ops) write(op, iteration);
      }
      for (int iteration = 0; iteration < iterations_; ++iteration) {
        for (const Op& op : ops) write_edges(op, iteration);
      }
      text_ += "}\n";
    }
    return std::move(text_);
  }

 private:
  std::back_insert_iterator<std::string> end() { return std::back_inserter(text_); }

  void write(const Op& op, int iteration) {
    fmt::format_to(end(), "i{}_{}: ", iteration, op.id.value());
    switch (meets(op.kind)) {
      case Meets::kOtherEnd: {
        const std::size_t tag =
            static_cast<std::size_t>(iteration) * plan_.messages().size() + op.message.index();
        fmt::format_to(end(), "{} {}b {} {} tag {} cpu 0 nic {}\n", reads_from(op.kind) ? "send" : "recv",
                       main_slice(op).size.count(), peer_word(op.kind), op.peer.value(), tag, op.nic);
        return;
      }
      case Meets::kNobody:
      case Meets::kMachines: {
        const GoalWork& work = works_[op.id.index()];
        fmt::format_to(end(), "calc {} cpu {}\n", work.time.ns(), work.cpu);
        return;
      }
    }
  }

  void write_edges(const Op& op, int iteration) {
    for (const Successor& successor : plan_.successors(op.id)) {
      const int later = iteration + static_cast<int>(successor.carried);
      if (later == iterations_) continue;
      fmt::format_to(end(), "i{}_{} requires i{}_{}\n", later, successor.id().value(), iteration,
                     op.id.value());
    }
  }

  const Plan& plan_;
  std::span<const GoalWork> works_;
  int iterations_;
  std::string text_;
};

}  // namespace

Result<std::string> goal(const Plan& plan, std::span<const GoalWork> works, int iterations) {
  WEIR_CHECK(works.size() == plan.ops().size(), works.size(), plan.ops().size());
  if (plan.messages().size() * static_cast<std::size_t>(iterations) > kMostTags) {
    return failure(fmt::format("{} iterations of {} messages exceed GOAL's number of tags, {}", iterations,
                               plan.messages().size(), kMostTags));
  }
  for (const Op& op : plan.ops()) {
    if (!is_message(op.kind) && works[op.id.index()].cpu >= kMostCpus) {
      return failure(fmt::format("machine {} works on more than the {} devices that GOAL can distinguish",
                                 op.machine.value(), kMostCpus));
    }
    if (is_message(op.kind) && op.nic >= kMostCpus) {
      return failure(fmt::format("machine {} has more than the {} NICs that GOAL can distinguish",
                                 op.machine.value(), kMostCpus));
    }
  }
  return ScheduleWriter(plan, works, iterations).text();
}

}  // namespace weir
