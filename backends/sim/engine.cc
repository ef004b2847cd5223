#include "backends/sim/engine.h"

#include <fmt/format.h>
#include <simgrid/forward.h>
#include <simgrid/version.h>
#include <xbt/log.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <queue>
#include <simgrid/kernel/resource/Model.hpp>
#include <simgrid/s4u.hpp>
#include <utility>

#include "core/base/check.h"

namespace weir::sim {

namespace s4u = simgrid::s4u;

namespace {

using Zone = s4u::NetZone;
using Ends = std::pair<s4u::Host*, s4u::Host*>;
using Route = std::vector<s4u::LinkInRoute>;

// A flow ends when fewer of its bytes are left than the product of SimGrid's two precisions. The default,
// 1e-14, is less than the rounding error of most flows, which would then end in an extra step some 1e-17 s
// long. 1e-4 is more than the error, up to a terabyte. As a share of a link's rate, 1e-9 is less than any
// flow gets. SimGrid's Lazy models and Exec would read the 1e5 as seconds, so they must not be used with
// these settings.
#if SIMGRID_VERSION >= 33500
constexpr const char* kPrecisions[] = {"precision/work-amount:1e-9", "precision/timing:1e5"};
using Ended = s4u::Comm;  // what signals of completion carry
#else
constexpr const char* kPrecisions[] = {"maxmin/precision:1e-9", "surf/precision:1e5"};
using Ended = s4u::Activity;
#endif

#if SIMGRID_VERSION >= 40000
Zone* full_zone(const s4u::Engine& simgrid) { return simgrid.get_netzone_root(); }
s4u::Host* add_host(Zone& zone, const std::string& name) { return zone.add_host(name, 1.0); }
s4u::Link* add_link(Zone& zone, const std::string& name, double rate) { return zone.add_link(name, rate); }
void add_route(Zone& zone, const Ends& ends, const Route& route) {
  zone.add_route(ends.first, ends.second, route, false);
}
#else
Zone* full_zone(const s4u::Engine&) { return s4u::create_full_zone("weir"); }
s4u::Host* add_host(Zone& zone, const std::string& name) { return zone.create_host(name, 1.0); }
s4u::Link* add_link(Zone& zone, const std::string& name, double rate) { return zone.create_link(name, rate); }
void add_route(Zone& zone, const Ends& ends, const Route& route) {
  zone.add_route(ends.first->get_netpoint(), ends.second->get_netpoint(), nullptr, nullptr, route, false);
}
#endif

constexpr const char* kSettings[] = {
    "network/model:CM02",      // the default, LV08, multiplies latency by 13 and bandwidth by 0.97
    "network/crosstraffic:0",  // the default loads the way back by 5 %
    "network/TCP-gamma:0",     // the default caps a flow at 4 MiB / (2 x latency)
    "network/optim:Full",      // the default, Lazy, can exceed capacities, and is slower here
    kPrecisions[0],           kPrecisions[1],
};

constexpr long double kSameInstant = 1e-12L;  // seconds
constexpr std::size_t kHosts = 512;           // a pair of different hosts stands for a path

}  // namespace

// What is under way, and the time. SimGrid takes it for the model of a resource and asks it first for its
// next event. At that moment all flows of an instant have ended and the next rates are not yet computed. So
// new flows cost no extra computation, and no actor is needed. Time is summed in long double here, because
// SimGrid's own clock drifts by 2 ns in 5 million steps at 100 s.
class Engine::Agenda final : public simgrid::kernel::resource::Model {
 public:
  Agenda() : Model("weir") {}

  double seconds() const { return static_cast<double>(now_); }
  std::size_t running_flows() const { return running_flows_; }
  void report_to(const OnInstant* instant) { instant_ = instant; }

  void add_timer(std::uint32_t id, Duration duration) {
    timers_.emplace(now_ + static_cast<long double>(duration.ns()) * 1e-9L, id);
  }

  // Keeps a reference to the flow until the instant of its end is over, since SimGrid keeps none.
  void add_flow(std::uint32_t id, const s4u::CommPtr& flow) {
    flow->set_data(reinterpret_cast<void*>(std::uintptr_t{id}));
    flow->add_ref();
    ++running_flows_;
  }

  void end_flow(const Ended& flow) {
    WEIR_CHECK(flow.get_state() != s4u::Activity::State::FAILED);
    ended_.push_back(static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(flow.get_data<void>())));
    flows_.emplace_back(const_cast<Ended*>(&flow), false);
  }

  double next_occurring_event(double) override {
    while (true) {
      for (; !timers_.empty() && timers_.top().first <= now_ + kSameInstant; timers_.pop())
        ended_.push_back(timers_.top().second);
      if (ended_.empty()) break;
      running_flows_ -= flows_.size();
      flows_.clear();
      std::sort(ended_.begin(), ended_.end());
      const std::vector<std::uint32_t> reported = std::exchange(ended_, {});
      (*instant_)(reported);
    }
    return timers_.empty() ? -1.0 : static_cast<double>(timers_.top().first - now_);
  }

  void update_actions_state(double, double step) override { now_ += static_cast<long double>(step); }

 private:
  using Timer = std::pair<long double, std::uint32_t>;  // seconds, id
  long double now_ = 0.0L;                              // seconds
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
  std::vector<std::uint32_t> ended_;     // ended at this instant, not yet reported
  std::vector<s4u::ActivityPtr> flows_;  // the flows among them
  std::size_t running_flows_ = 0;
  const OnInstant* instant_ = nullptr;
};

struct Engine::Platform {
  Ends ends(std::size_t path) const {
    const std::size_t source = path / (kHosts - 1);
    return {hosts[source], hosts[(source + 1 + path % (kHosts - 1)) % kHosts]};
  }

  void set_rate(LinkId link, double factor) {
    links[link.index()]->set_bandwidth(std::max(1.0, factor * rates[link.index()]));
  }

  s4u::Engine simgrid{"weir"};
  std::shared_ptr<Agenda> agenda = std::make_shared<Agenda>();
  Zone* zone = nullptr;
  std::vector<s4u::Link*> links;
  std::vector<double> rates;    // of the links, before scaling
  std::vector<double> factors;  // their scale factors
  const Paths* paths = nullptr;
  std::vector<s4u::Host*> hosts;
  std::vector<std::size_t> routes;  // by path: the pair of hosts that stands for it
};

std::string Engine::settings() { return fmt::format("{}", fmt::join(kSettings, " ")); }

Engine::Engine(const std::vector<LinkSpec>& links) {
  WEIR_CHECK(!s4u::Engine::has_instance());
  platform_ = std::make_unique<Platform>();
  static bool settled = false;  // SimGrid's settings and callbacks outlive engines
  if (!settled) {
    xbt_log_control_set("root.thres:error");
    for (const char* setting : kSettings) s4u::Engine::set_config(setting);
    Ended::on_completion_cb([](const Ended& flow) {
      static_cast<Agenda*>(s4u::Engine::get_instance()->get_all_models().front())->end_flow(flow);
    });
    settled = true;
  }
  platform_->simgrid.add_model(platform_->agenda);  // must be first: SimGrid's own models come with the zone
  platform_->zone = full_zone(platform_->simgrid);
  for (const auto& [name, rate] : links) {
    WEIR_CHECK(rate > 0.0 && std::isfinite(rate), name, rate);
    const std::string unique = fmt::format("{}.{}", platform_->links.size(), name);
    platform_->links.push_back(add_link(*platform_->zone, unique, rate)->set_latency(0.0));
  }
  for (std::size_t i = 0; i < kHosts; ++i)
    platform_->hosts.push_back(add_host(*platform_->zone, fmt::format("host.{}", i)));
  platform_->zone->seal();
}

Engine::~Engine() = default;

Result<void> Engine::set_paths(const Paths& paths, const Binding& binding) {
  WEIR_CHECK(platform_->routes.empty());
  std::vector<double>& rates = platform_->rates;
  for (const s4u::Link* link : platform_->links) rates.push_back(link->get_bandwidth());
  platform_->factors.assign(rates.size(), 1.0);
  platform_->paths = &paths;
  constexpr std::size_t kMost = kHosts * (kHosts - 1);
  std::map<Path, std::size_t> known;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    Path left;
    for (const LinkUse& use : paths[i]) {
      WEIR_CHECK(use.link.index() < rates.size() && use.weight > 0, use.link, use.weight);
      if (!binding.never[use.link.index()]) left.push_back(use);
    }
    WEIR_CHECK(!left.empty());
    const auto [at, fresh] = known.try_emplace(left, known.size());
    platform_->routes.push_back(at->second);
    if (!fresh) continue;
    if (known.size() > kMost) {
      return failure(fmt::format(
          "the plan uses more than {} different paths, the most that SimGrid can simulate here", kMost));
    }
    Route route;  // a link is repeated as often as its weight
    for (const LinkUse& use : left) {
      const s4u::LinkInRoute link(platform_->links[use.link.index()]);
      route.insert(route.end(), static_cast<std::size_t>(use.weight), link);
    }
    add_route(*platform_->zone, platform_->ends(at->second), route);
  }
  return {};
}

double Engine::seconds() const { return platform_->agenda->seconds(); }

void Engine::start_flow(std::uint32_t id, int path, Bytes bytes) {
  const auto index = static_cast<std::size_t>(path);
  WEIR_CHECK(bytes > Bytes(0) && index < platform_->routes.size(), id, path, bytes.count());
  const Ends ends = platform_->ends(platform_->routes[index]);
  const s4u::CommPtr flow = s4u::Comm::sendto_init();
  platform_->agenda->add_flow(id, flow);
  flow->set_payload_size(static_cast<std::uint64_t>(bytes.count()));
  flow->set_source(ends.first);
  // SimGrid never gives a flow more than the rates that links have when it begins.
  std::vector<LinkId> scaled;
  for (const LinkUse& use : (*platform_->paths)[index]) {
    if (platform_->factors[use.link.index()] < 1.0) scaled.push_back(use.link);
  }
  for (const LinkId link : scaled) platform_->set_rate(link, 1.0);
  flow->set_destination(ends.second);  // starts it, so the size must be set before
  for (const LinkId link : scaled) platform_->set_rate(link, platform_->factors[link.index()]);
}

void Engine::start_timer(std::uint32_t id, Duration duration) {
  WEIR_CHECK(duration >= Duration(0), id, duration.ns());
  platform_->agenda->add_timer(id, duration);
}

void Engine::scale_link(LinkId link, double factor) {
  WEIR_CHECK(factor >= 0.0 && factor <= 1.0, link, factor);
  platform_->factors[link.index()] = factor;
  platform_->set_rate(link, factor);
}

Result<void> Engine::run(const Begin& begin, const OnInstant& instant) {
  platform_->agenda->report_to(&instant);
  begin();
  platform_->simgrid.run();
  const std::size_t stuck = platform_->agenda->running_flows();
  if (stuck > 0) return failure(fmt::format("SimGrid gives {} flows no rate at {} s", stuck, seconds()));
  return {};
}

}  // namespace weir::sim
