#include "core/report/timeline.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <tuple>

#include "core/report/report.h"
#include "core/report/service.h"

namespace weir {
namespace {

constexpr std::int64_t kFinest = 1'000'000;  // times are rounded to this part of the whole, for short numbers
constexpr std::int64_t kShort = 10'000;      // of the whole: longer ops are drawn one by one
constexpr int kMostSteps = 150;              // of a counter

// A counter's value from an instant on, in ticks and tenths of a percent.
struct Sample {
  std::int64_t at;
  std::int64_t use;
  friend auto operator<=>(const Sample&, const Sample&) = default;
};

// Links of one machine, or of the network, whose use draws the same.
struct Counter {
  MachineId machine;
  std::vector<Sample> samples;
  std::vector<std::string> links;
};

class Timeline {
 public:
  /// Draws run number `index` of `count`, into a text that outlives the timeline.
  Timeline(const Drawn& run, std::size_t index, std::size_t count, std::string& text)
      : run_(run),
        plan_(run.plan),
        cluster_(run.cluster),
        workload_(run.workload),
        works_(run.plan, run.cluster),
        index_(index),
        count_(count),
        text_(text) {}

  void draw() {
    const std::vector<Server> servers = weir::servers(plan_, works_, run_.record);
    frame(servers, run_.warm_up);
    for (std::size_t i = 0; i < plan_.machines(); ++i) {
      name_process(MachineId(i), cluster_.machine(MachineId(i)).name);
    }
    std::map<MachineId, int> tracks;
    for (const Server& server : servers) {
      draw_track(server, ++tracks[server.resource.machine], run_.warm_up);
    }
    draw_links(link_use(servers, cluster_, works_, run_.model.overhead_of_message()));
  }

  static std::string quoted(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }

 private:
  void frame(const std::vector<Server>& servers, int warm_up) {
    bool first = true;
    for (const Server& server : servers) {
      for (const Service& service : server.services) {
        if (service.iteration < warm_up) continue;
        begin_ = first ? service.begin : std::min(begin_, service.begin);
        end_ = first ? service.end : std::max(end_, service.end);
        first = false;
      }
    }
    while ((end_ - begin_).ns() / tick_ > kFinest) tick_ *= 10;
  }

  void draw_track(const Server& server, int track, int warm_up) {
    const std::vector<Service>& services = server.services;
    bool named = false;
    for (std::size_t i = 0; i < services.size();) {
      std::size_t end = i + 1;
      while (end < services.size() && drawn_as_one(services[end - 1], services[end])) ++end;
      if (services[i].iteration >= warm_up) {
        if (!named) name_track(server, track);
        named = true;
        draw_event(std::span(services).subspan(i, end - i), track, warm_up);
      }
      i = end;
    }
  }

  bool drawn_as_one(const Service& a, const Service& b) const {
    const auto is_short = [&](Duration duration) { return duration * kShort < end_ - begin_; };
    return a.op->layer == b.op->layer && a.op->kind == b.op->kind && a.iteration == b.iteration &&
           is_short(a.end - a.begin) && is_short(b.begin - a.end) && is_short(b.end - b.begin);
  }

  void draw_event(std::span<const Service> services, int track, int warm_up) {
    const Op& op = *services.front().op;
    const int iteration = services.front().iteration - warm_up;
    std::string text = op.layer >= 0 ? workload_.layer(op.layer).name : std::string(name(op.kind));
    if (is_compute(op.kind)) text = fmt::format("{} {}", name(op.kind), text);
    std::string args;
    if (iteration > 0) args = fmt::format(R"(,"iteration":{})", iteration);
    if (services.size() > 1) {
      Duration busy;
      for (const Service& service : services) busy += service.end - service.begin;
      args += fmt::format(R"(,"ops":{},"busy_us":{})", services.size(), decimal(busy.ns(), 1000));
    }
    if (!args.empty()) args = ",\"args\":{" + args.substr(1) + "}";
    const std::int64_t from = ticks(services.front().begin);
    const std::int64_t until = ticks(services.back().end);
    add(fmt::format(R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"name":{}{}}})", pid(op.machine), track,
                    microseconds(from), microseconds(until - from), quoted(text), args));
  }

  void draw_links(const std::vector<std::vector<LinkStep>>& uses) {
    using Alike = std::tuple<MachineId, std::string, std::vector<Sample>>;  // the string: the kind
    std::map<Alike, std::size_t> index;
    std::vector<Counter> counters;
    for (std::size_t i = 0; i < uses.size(); ++i) {
      std::vector<Sample> samples = samples_of(uses[i]);
      if (samples.empty()) continue;
      const Link& link = cluster_.links()[i];
      const std::string kind = kind_of(link.name, link.machine, cluster_).second;
      const auto [at, fresh] = index.try_emplace({link.machine, kind, samples}, counters.size());
      if (fresh) counters.push_back({link.machine, std::move(samples), {}});
      counters[at->second].links.push_back(link.machine.valid() ? below(link.machine, link.name) : link.name);
    }
    const auto network = std::find_if(counters.begin(), counters.end(),
                                      [](const Counter& counter) { return !counter.machine.valid(); });
    if (network != counters.end()) name_process(MachineId::none(), "network");
    for (const Counter& counter : counters) draw_counter(counter);
  }

  void draw_counter(const Counter& counter) {
    std::string text = counter.links.front();
    if (counter.links.size() > 1)
      text += fmt::format(" to {}, {} alike", counter.links.back(), counter.links.size());
    for (const Sample& sample : counter.samples) {
      add(fmt::format(R"({{"ph":"C","pid":{},"ts":{},"name":{},"args":{{"%":{}}}}})", pid(counter.machine),
                      microseconds(sample.at), quoted(text), decimal(sample.use, 10)));
    }
  }

  // The steps within the time that is drawn; none if the link is idle throughout.
  std::vector<Sample> samples_of(const std::vector<LinkStep>& steps) const {
    std::vector<LinkStep> within;  // from the beginning on
    for (const LinkStep& step : steps) {
      const LinkStep clipped = {std::clamp(step.from, begin_, end_), step.use};
      if (!within.empty() && within.back().from == clipped.from) within.pop_back();
      within.push_back(clipped);
    }
    if (within.size() > kMostSteps) within = means(within);
    std::vector<Sample> samples;
    for (const LinkStep& step : within) {
      const Sample sample = {ticks(step.from), rounded(step.use)};
      if (!samples.empty() && samples.back().use == sample.use) continue;
      if (samples.empty() && sample.use == 0) continue;
      if (!samples.empty() && samples.back().at == sample.at) samples.pop_back();
      samples.push_back(sample);
    }
    return samples;
  }

  // In tenths of a percent; rounded to whole percents from 10 % on.
  static std::int64_t rounded(double use) {
    return use < 0.1 ? std::llround(use * 1000) : std::llround(use * 100) * 10;
  }

  // The mean use in each of a number of equal times.
  std::vector<LinkStep> means(const std::vector<LinkStep>& steps) const {
    const double width = static_cast<double>((end_ - begin_).ns()) / kMostSteps;
    std::vector<double> sums(kMostSteps + 1);
    for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
      double from = static_cast<double>((steps[i].from - begin_).ns()) / width;
      const double end = static_cast<double>((steps[i + 1].from - begin_).ns()) / width;
      while (from < end) {
        const double until = std::min(end, std::floor(from) + 1);
        sums[static_cast<std::size_t>(from)] += (until - from) * steps[i].use;
        from = until;
      }
    }
    std::vector<LinkStep> result;
    for (int i = 0; i <= kMostSteps; ++i) {
      const Duration from(std::llround(width * i));
      result.push_back({begin_ + from, i < kMostSteps ? sums[static_cast<std::size_t>(i)] : 0.0});
    }
    return result;
  }

  // Not 0, which Perfetto interprets as an operating system's idle process. The network comes last.
  std::size_t pid(MachineId machine) const {
    return 1 + index_ + count_ * (machine.valid() ? machine.index() : plan_.machines());
  }

  void name_process(MachineId machine, const std::string& text) {
    const std::string whole = run_.name.empty() ? text : fmt::format("{} of {}", text, run_.name);
    add(fmt::format(R"({{"ph":"M","pid":{},"name":"process_name","args":{{"name":{}}}}})", pid(machine),
                    quoted(whole)));
    add(fmt::format(R"({{"ph":"M","pid":{0},"name":"process_sort_index","args":{{"sort_index":{0}}}}})",
                    pid(machine)));
  }

  void name_track(const Server& server, int track) {
    const MachineId machine = server.resource.machine;
    std::string text = below(machine, name(server.resource, cluster_));
    if (server.message != nullptr) text += " to " + target(*server.message);
    add(fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":{}}}}})",
                    pid(machine), track, quoted(text)));
    add(fmt::format(
        R"({{"ph":"M","pid":{0},"tid":{1},"name":"thread_sort_index","args":{{"sort_index":{1}}}}})",
        pid(machine), track));
  }

  // The name within its machine: "gpu[3].nic0.out" becomes "nic0.out", "gpu[3] copy out" becomes "copy out".
  std::string below(MachineId machine, const std::string& name) const {
    return name.substr(cluster_.machine(machine).name.size() + 1);
  }

  std::string target(const Op& send) const {
    const Machine& machine = cluster_.machine(send.peer);
    if (machine.nics.size() == 1) return machine.name;
    const int nic = plan_.op(plan_.messages()[send.message.index()].receive).nic;
    return fmt::format("{}.{}", machine.name, machine.nics[static_cast<std::size_t>(nic)].name);
  }

  std::int64_t ticks(Instant instant) const { return ((instant - begin_).ns() + tick_ / 2) / tick_; }
  std::string microseconds(std::int64_t ticks) const { return decimal(ticks * tick_, 1000); }

  // The number divided by a power of ten, without trailing zeros.
  static std::string decimal(std::int64_t number, std::int64_t over) {
    std::string text = std::to_string(number / over);
    if (number % over == 0) return text;
    text += '.' + std::to_string(over + number % over).substr(1);
    text.erase(text.find_last_not_of('0') + 1);
    return text;
  }

  void add(const std::string& event) {
    if (text_.back() == '}') text_ += ',';
    text_ += '\n';
    text_ += event;
  }

  const Drawn& run_;
  const Plan& plan_;
  const Cluster& cluster_;
  const Workload& workload_;
  WorkTable works_;
  std::size_t index_;
  std::size_t count_;
  Instant begin_;
  Instant end_;
  std::int64_t tick_ = 1;  // ns
  std::string& text_;
};

}  // namespace

std::string timeline(const Plan& plan, const Cluster& cluster, const Workload& workload, const Record& record,
                     int warm_up, const Model& model) {
  return timelines(std::vector<Drawn>{{"", plan, cluster, workload, record, warm_up, model}});
}

std::string timelines(std::span<const Drawn> runs) {
  std::string text = R"({"displayTimeUnit":"ms","traceEvents":[)";
  for (std::size_t i = 0; i < runs.size(); ++i) Timeline(runs[i], i, runs.size(), text).draw();
  // Comes last, because Perfetto stops reading at a key that it does not know.
  text += "\n],\n\"otherData\":{\"layers\":[";
  const Workload& workload = runs.front().workload;
  for (int layer = 0; layer < workload.layers(); ++layer) {
    text += (layer > 0 ? "," : "") + Timeline::quoted(workload.layer(layer).name);
  }
  return text + "]}}\n";
}

}  // namespace weir
