#include "core/simulate/network.h"

#include <algorithm>

namespace weir {

Network::Network(const Cluster& cluster, const Conditions& conditions, std::vector<double> rates,
                 Engine& engine)
    : cluster_(cluster),
      engine_(engine),
      circumstances_(conditions, cluster),
      rates_(std::move(rates)),
      physics_(cluster, rates_, engine.precision()),
      messages_(cluster.links().size(), 0) {
  for (std::size_t i = 0; i < cluster.links().size(); ++i)
    varies_.push_back(circumstances_.varies(LinkId(i)));
}

Result<void> Network::set_paths(std::vector<Paths> by_job) {
  if (Result<void> fair = check_sums(by_job); !fair) return fair;
  for (Paths& paths : by_job) {
    if (paths_.size() == 0) {
      paths_ = std::move(paths);
    } else {
      for (std::size_t i = 0; i < paths.size(); ++i) paths_.add(paths[i]);
    }
  }
  binding_ = Binding(rates_, paths_, varies_);
  find_steady();
  return engine_.set_paths(paths_, binding_);
}

// The cores of a node sum one op of a job at a time. Several jobs share them like any link, which is right
// only if each byte costs the cores the same time.
Result<void> Network::check_sums(const std::vector<Paths>& by_job) {
  constexpr std::size_t kSeveral = ~std::size_t{0};
  constexpr std::size_t kNobody = kSeveral - 1;
  std::vector<std::size_t> user(cluster_.links().size(), kNobody);  // by link: the job
  for (std::size_t job = 0; job < by_job.size(); ++job) {
    for (std::size_t i = 0; i < by_job[job].size(); ++i) {
      for (const LinkUse& use : by_job[job][i]) {
        std::size_t& who = user[use.link.index()];
        who = who == kNobody || who == job ? job : kSeveral;
      }
    }
  }
  for (std::size_t i = 0; i < user.size(); ++i)
    alone_.push_back(cluster_.links()[i].kind == Link::Kind::kSum && user[i] != kSeveral && !varies_[i]);
  for (const Machine& machine : cluster_.machines()) {
    for (const Numa& numa : machine.numas) {
      std::vector<std::size_t> users;  // of its cores at each rate
      for (const auto& [rate, link] : numa.sums) {
        if (user[link.index()] != kNobody) users.push_back(user[link.index()]);
      }
      const bool unlike = std::any_of(users.begin(), users.end(), [&](std::size_t who) {
        return who == kSeveral || who != users.front();
      });
      if (users.size() < 2 || !unlike) continue;
      return failure(
          fmt::format("jobs sum elements of several types on the cores of {}.{}, whose rates differ; give "
                      "them machines of their own, or traces of one type",
                      machine.name, numa.name));
    }
  }
  return {};
}

// A path is steady if all its links let through whatever comes, except the cores of a NUMA node, which serve
// one op at a time. Sums are steady too where memory has room for all traffic.
void Network::find_steady() {
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    steady_.push_back(std::ranges::all_of(paths_[i], [&](const LinkUse& use) -> bool {
      return alone_[use.link.index()] || binding_.never[use.link.index()];
    }));
  }
}

void Network::start(const Flow& flow, Bytes burden, Duration alone) {
  physics_.flow_started(flow.id, path(flow.path), engine_.seconds());
  if (steady(flow.path)) {
    engine_.start_timer(flow.id, alone);
  } else {
    engine_.start_flow(flow.id, flow.path, burden);
    count(flow, 1);
  }
}

void Network::end(const Flow& flow, Bytes bytes) {
  physics_.flow_ended(flow.id, path(flow.path), bytes, engine_.seconds());
  if (!steady(flow.path)) count(flow, -1);
}

// One message more or less arrives through a NIC.
void Network::count(const Flow& flow, int more) {
  if (!flow.message) return;
  for (const LinkUse& use : path(flow.path)) {
    if (!circumstances_.receives(use.link)) continue;
    messages_[use.link.index()] += more;
    scale(use.link, factor(use.link));
  }
}

double Network::factor(LinkId link) const {
  return circumstances_.factor(link, messages_[link.index()], now());
}

void Network::scale(LinkId link, double factor) {
  engine_.scale_link(link, factor);
  physics_.link_scaled(link, factor, engine_.seconds());
}

void Network::change() {
  for (const LinkId link : circumstances_.changing()) scale(link, factor(link));
}

void Network::restore() {
  for (const LinkId link : circumstances_.changing()) scale(link, 1.0);
}

bool Network::down() const {
  const std::vector<LinkId>& links = circumstances_.changing();
  return std::any_of(links.begin(), links.end(), [&](LinkId link) { return factor(link) == 0.0; });
}

}  // namespace weir
