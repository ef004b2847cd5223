#include "core/fluid/timeline.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/fluid/work.h"

namespace weir {
namespace {

constexpr int kLanes = 1000;  // tracks are numbered by resource first

struct Event {
  const Op* op;
  int iteration;
  OpRecord times;
};

class Timeline {
 public:
  Timeline(const Plan& plan, const Cluster& cluster, const Workload& workload)
      : plan_(plan), cluster_(cluster), workload_(workload), works_(plan, cluster) {}

  std::string draw(const Record& record, int warm_up) {
    collect(record, warm_up);
    text_ = "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [";
    for (std::size_t i = 0; i < plan_.machines(); ++i) {
      name_process(i);
    }
    for (std::size_t i = 0; i < events_.size(); ++i) draw_track(i);
    return text_ + "\n]}\n";
  }

 private:
  void collect(const Record& record, int warm_up) {
    events_.resize(works_.resources().size());
    bool first = true;
    for (int i = warm_up; i < static_cast<int>(record.iterations.size()); ++i) {
      for (const Op& op : plan_.ops()) {
        const OpRecord& times = record.of(op.id, i);
        if (op.kind == OpKind::kReceive || times.completed == times.started) continue;
        events_[works_.of(op.id).resource].push_back({&op, i - warm_up, times});
        begin_ = first ? times.started : std::min(begin_, times.started);
        first = false;
      }
    }
    for (std::vector<Event>& events : events_) {
      std::stable_sort(events.begin(), events.end(),
                       [](const Event& a, const Event& b) { return a.times.started < b.times.started; });
    }
  }

  // Each event goes on the first lane that is free when it starts.
  void draw_track(std::size_t index) {
    const Resource& resource = works_.resources()[index];
    std::vector<Instant> busy_until;
    for (const Event& event : events_[index]) {
      auto lane = std::find_if(busy_until.begin(), busy_until.end(),
                               [&](Instant end) { return end <= event.times.started; });
      if (lane == busy_until.end()) {
        lane = busy_until.insert(lane, Instant());
        name_track(resource, static_cast<int>(lane - busy_until.begin()));
      }
      *lane = event.times.completed;
      draw_event(event, track(resource, static_cast<int>(lane - busy_until.begin())));
    }
  }

  // Tracks stand in the order of Resource::Kind.
  static int track(const Resource& resource, int lane) {
    return (static_cast<int>(resource.kind) * 256 + resource.index) * kLanes + lane % kLanes;
  }

  void draw_event(const Event& event, int track) {
    const Op& op = *event.op;
    const std::string layer = op.layer >= 0 ? workload_.layer(op.layer).name : std::string();
    const Bytes bytes = std::max(op.from.size, op.into.size);
    add(fmt::format(R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"name":{},"cat":"{}",)"
                    R"("args":{{"layer":{},"priority":{},"bytes":{},"iteration":{},"op":{}{}}}}})",
                    op.machine, track, microseconds(event.times.started - begin_),
                    microseconds(event.times.completed - event.times.started),
                    quoted(fmt::format("{} {}", name(op.kind), layer)), name(op.kind), quoted(layer),
                    op.priority, bytes.count(), event.iteration, op.id, peer(op)));
  }

  std::string peer(const Op& op) const {
    if (op.kind != OpKind::kSend) return {};
    return fmt::format(R"(,"to":{})", quoted(cluster_.machine(op.peer).name));
  }

  void name_process(std::size_t machine) {
    add(fmt::format(R"({{"ph": "M", "pid": {}, "name": "process_name", "args": {{"name": {}}}}})", machine,
                    quoted(cluster_.machine(MachineId(machine)).name)));
    add(fmt::format(
        R"({{"ph": "M", "pid": {0}, "name": "process_sort_index", "args": {{"sort_index": {0}}}}})",
        machine));
  }

  void name_track(const Resource& resource, int lane) {
    // "gpu[3] copy out" is "copy out" under its machine.
    std::string text = name(resource, cluster_).substr(cluster_.machine(resource.machine).name.size() + 1);
    if (resource.kind == Resource::Kind::kNic) text += " out";
    if (lane > 0) text += fmt::format(" ({})", lane + 1);
    const int number = track(resource, lane);
    add(fmt::format(R"({{"ph": "M", "pid": {}, "tid": {}, "name": "thread_name", "args": {{"name": {}}}}})",
                    resource.machine, number, quoted(text)));
    add(fmt::format(
        R"({{"ph": "M", "pid": {}, "tid": {}, "name": "thread_sort_index", "args": {{"sort_index": {}}}}})",
        resource.machine, number, number));
  }

  static std::string microseconds(Duration duration) {
    return fmt::format("{}.{:03}", duration.ns() / 1000, duration.ns() % 1000);
  }

  static std::string quoted(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }

  void add(const std::string& event) {
    if (text_.back() == '}') text_ += ',';
    text_ += '\n';
    text_ += event;
  }

  const Plan& plan_;
  const Cluster& cluster_;
  const Workload& workload_;
  WorkTable works_;
  std::vector<std::vector<Event>> events_;  // by resource
  Instant begin_;
  std::string text_;
};

}  // namespace

std::string timeline(const Plan& plan, const Cluster& cluster, const Workload& workload, const Record& record,
                     int warm_up) {
  return Timeline(plan, cluster, workload).draw(record, warm_up);
}

}  // namespace weir
