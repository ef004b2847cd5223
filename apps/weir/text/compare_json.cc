// The output of weir compare as JSON. Times are in nanoseconds, errors are fractions, missing values are
// null.
#include <nlohmann/json.hpp>

#include "apps/weir/text/compare_text.h"
#include "apps/weir/text/op_words.h"
#include "core/base/version.h"
#include "core/document/document.h"

namespace weir {
namespace {

using nlohmann::ordered_json;

ordered_json or_null(std::optional<double> error) {
  return error ? ordered_json(*error) : ordered_json(nullptr);
}

ordered_json both(Duration a, Duration b) {
  return {{"a_ns", a.ns()}, {"b_ns", b.ns()}, {"error", or_null(relative_error(a, b))}};
}

ordered_json about(const KeptRecord& kept) {
  const RecordHeader& header = kept.header;
  return {{"file", kept.file},           {"weir", header.weir},
          {"world", header.world},       {"world_settings", header.world_settings},
          {"strategy", header.strategy}, {"point", header.point},
          {"seed", header.seed},         {"iterations", header.iterations - header.warm_up},
          {"warm_up", header.warm_up}};
}

ordered_json settings(const RecordComparison& all) {
  ordered_json list = ordered_json::array();
  for (const SettingDifference& one : setting_differences(all.a.header, all.b.header)) {
    const auto value = [](const std::string& text) {
      return text.empty() ? ordered_json(nullptr) : ordered_json::parse(text, nullptr, false);
    };
    list.push_back({{"path", one.path}, {"a", value(one.a)}, {"b", value(one.b)}});
  }
  return list;
}

ordered_json stages_json(const RecordComparison& all) {
  ordered_json list = ordered_json::array();
  for (const StageDifference& one : all.difference.stages) {
    list.push_back({{"stage", enum_name(one.stage)},
                    {"ops", one.ops},
                    {"busy", both(one.a.busy, one.b.busy)},
                    {"mean", both(one.a.mean, one.b.mean)},
                    {"queueing", both(one.a.queueing, one.b.queueing)}});
  }
  return list;
}

ordered_json classes_json(const RecordComparison& all) {
  ordered_json list = ordered_json::array();
  for (const ClassDifference& one : all.difference.classes) {
    const Errors& errors = one.errors;
    ordered_json distribution = {{"ops", errors.ops}};
    if (errors.ops > 0) {
      distribution.update({{"percentile_10", errors.tenth},
                           {"median", errors.median},
                           {"percentile_90", errors.ninetieth},
                           {"worst", errors.worst}});
    }
    list.push_back(
        {{"class", one.name}, {"ops", one.ops}, {"mean", both(one.a, one.b)}, {"errors", distribution}});
  }
  return list;
}

ordered_json ops_json(const RecordComparison& all) {
  ordered_json list = ordered_json::array();
  for (const OpDifference& one : all.difference.ops) {
    const OpWords words = op_words(all.a.of->plan.op(one.op), *all.a.of);
    ordered_json entry = {
        {"op", one.op.value()}, {"what", words.what}, {"layer", words.layer}, {"part", words.part}};
    entry.update(both(one.a, one.b));
    list.push_back(std::move(entry));
  }
  return list;
}

ordered_json turn(const Turn& turn, const PlannedRun& of) {
  return {
      {"op", turn.op.value()}, {"iteration", turn.iteration}, {"what", whole_words(of.plan.op(turn.op), of)}};
}

ordered_json submitted(const Submitted& submitted, const PlannedRun& of) {
  ordered_json after = nullptr;
  if (submitted.ready.after) {
    after = turn(*submitted.ready.after, of);
    after["completed_ns"] = submitted.ready.at.ns();
  }
  return {{"submitted_ns", submitted.at.ns()}, {"after", std::move(after)}};
}

ordered_json promptness(const Promptness& prompt) {
  return {{"early", prompt.early}, {"longest_ns", prompt.longest.ns()}};
}

ordered_json order(const RecordComparison& all) {
  const Orders& orders = all.orders;
  const PlannedRun& of = *all.a.of;
  ordered_json machines = ordered_json::array();
  for (const MachineOrder& machine : orders.machines) {
    ordered_json entry = {{"machine", of.cluster.machine(machine.machine).name},
                          {"submitted", machine.submitted},
                          {"other_order", machine.swapped},
                          {"as_completions_were", machine.ready_in_other_order}};
    if (machine.first) {
      const Swap& swap = *machine.first;
      entry["first"] = {
          {"earlier_in_a", turn(swap.first, of)},
          {"later_in_a", turn(swap.second, of)},
          {"a", {{"earlier", submitted(swap.first_in_a, of)}, {"later", submitted(swap.second_in_a, of)}}},
          {"b", {{"earlier", submitted(swap.second_in_b, of)}, {"later", submitted(swap.first_in_b, of)}}}};
    }
    machines.push_back(std::move(entry));
  }
  return {{"equal", orders.equal()},   {"explained", orders.explained()}, {"iterations", orders.iterations},
          {"a", promptness(orders.a)}, {"b", promptness(orders.b)},       {"machines", std::move(machines)}};
}

}  // namespace

std::string json(const RecordComparison& comparison) {
  const Report& a = comparison.difference.a;
  const Report& b = comparison.difference.b;
  const ordered_json whole = {{"weir", version()},
                              {"a", about(comparison.a)},
                              {"b", about(comparison.b)},
                              {"plan_hash", comparison.a.header.plan_hash},
                              {"plan_ops", comparison.a.header.ops},
                              {"settings", settings(comparison)},
                              {"iteration", both(a.iteration, b.iteration)},
                              {"exposed_communication", both(a.exposed, b.exposed)},
                              {"communication", both(a.communication, b.communication)},
                              {"compute", both(a.compute, b.compute)},
                              {"stages", stages_json(comparison)},
                              {"classes", classes_json(comparison)},
                              {"ops", ops_json(comparison)},
                              {"order", order(comparison)}};
  return json_text(whole, 1) + "\n";
}

}  // namespace weir
