#include "core/simulate/conditions.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/base/units_text.h"
#include "core/cluster/subcluster.h"

namespace weir {
namespace {

constexpr double kLeastOfIncast = 0.1;  // of a NIC's rate

// The links of NICs and racks that the traffic crosses, once for each pair of machines.
std::vector<LinkId> links_of(const Background& background, const Cluster& cluster) {
  std::vector<LinkId> links;
  for (const MachineId from : machines_named(background.from, cluster)) {
    for (const MachineId into : machines_named(background.into, cluster)) {
      if (from == into) continue;
      for (const LinkId link : cluster.route(from, Memory::host(0), 0, into, Memory::host(0), 0).links) {
        const Link::Kind kind = cluster.link(link).kind;
        if (kind == Link::Kind::kNic || kind == Link::Kind::kRack) links.push_back(link);
      }
    }
  }
  return links;
}

double rate_of(LinkId link, const Cluster& cluster) {
  return static_cast<double>(cluster.link(link).rate.value());
}

// Whether `spell` holds when `other` begins, for the first time or at any repetition.
bool holds_at_beginning(const Spell& spell, const Spell& other) {
  if (!other.every) return spell.holds(Instant() + other.at);
  if (!spell.lasting) return true;
  const std::int64_t ahead = (spell.at - other.at).ns();
  if (spell.every) {
    const std::int64_t common = std::gcd(spell.every->ns(), other.every->ns());
    return ((-ahead) % common + common) % common < spell.lasting->ns();
  }
  const std::int64_t every = other.every->ns();
  const std::int64_t repetitions = std::max<std::int64_t>(0, (ahead + every - 1) / every);
  return spell.holds(Instant() + other.at + *other.every * repetitions);
}

// A link of which background traffic leaves nothing at some time, and the traffic that is too much. Traffic
// that alternates with several others may count as if all of these came at once.
std::optional<std::pair<std::size_t, LinkId>> full_link(const std::vector<Background>& all,
                                                        const std::vector<double>& left,
                                                        const Cluster& cluster) {
  std::vector<std::map<LinkId, double>> rates;  // by background: what it takes of each link
  for (const Background& background : all) {
    std::map<LinkId, double>& own = rates.emplace_back();
    for (const LinkId link : links_of(background, cluster))
      own[link] += static_cast<double>(background.rate.value());
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const auto& [link, own] : rates[i]) {
      if (!cluster.link(link).rate.limited()) continue;
      double taken = 0.0;
      for (std::size_t j = 0; j < all.size(); ++j) {
        const auto found = rates[j].find(link);
        if (found == rates[j].end()) continue;
        if (i == j || holds_at_beginning(all[j].spell, all[i].spell)) taken += found->second;
      }
      if (taken >= left[link.index()] * rate_of(link, cluster)) return std::pair(i, link);
    }
  }
  return std::nullopt;
}

}  // namespace

bool Spell::holds(Instant now) const {
  const Duration since = now - Instant() - at;
  if (since < Duration(0)) return false;
  if (!lasting) return true;
  return (every ? Duration(since.ns() % every->ns()) : since) < *lasting;
}

std::optional<Instant> Spell::next_change(Instant now) const {
  const Instant first = Instant() + at;
  if (now < first) return first;
  if (!lasting) return std::nullopt;
  const Instant begin = every ? first + *every * ((now - first).ns() / every->ns()) : first;
  if (now < begin + *lasting) return begin + *lasting;
  if (!every) return std::nullopt;
  return begin + *every;
}

bool Conditions::jitter() const {
  return std::any_of(stragglers.begin(), stragglers.end(),
                     [](const Straggler& straggler) { return straggler.jitter > 0.0; });
}

std::vector<std::pair<std::string, std::string>> faults(const Conditions& conditions,
                                                        const Cluster& cluster) {
  std::vector<std::pair<std::string, std::string>> wrong;
  const auto need_machines = [&](const std::string& path, const std::string& pattern) {
    if (!machines_named(pattern, cluster).empty()) return;
    wrong.emplace_back(path, fmt::format("no machine is named '{}'; they are named {} to {}", pattern,
                                         cluster.machines().front().name, cluster.machines().back().name));
  };
  for (std::size_t i = 0; i < conditions.stragglers.size(); ++i) {
    const std::string path = fmt::format("stragglers[{}].machines", i);
    const std::string& pattern = conditions.stragglers[i].machines;
    need_machines(path, pattern);
    const std::vector<MachineId> named = machines_named(pattern, cluster);
    const bool computes =
        std::ranges::any_of(named, [&](MachineId machine) { return cluster.machine(machine).has_gpus(); });
    if (!named.empty() && !computes)
      wrong.emplace_back(
          path, fmt::format("'{}' has no GPUs, so it computes nothing; slow its links, or stop it", pattern));
  }
  for (std::size_t i = 0; i < conditions.stops.size(); ++i)
    need_machines(fmt::format("stops[{}].machines", i), conditions.stops[i].machines);
  std::vector<double> left(cluster.links().size(), 1.0);  // after permanent conditions
  for (std::size_t i = 0; i < conditions.links.size(); ++i) {
    const SlowLinks& slow = conditions.links[i];
    const std::vector<LinkId> named = links_named(slow.links, cluster);
    if (!slow.spell.lasting) {
      for (const LinkId link : named) left[link.index()] *= slow.factor;
    }
    if (!slow.spell.lasting && slow.factor == 0.0)
      wrong.emplace_back(fmt::format("links[{}].factor", i),
                         "a link that is down must come back; give 'for' as well");
    if (!named.empty()) continue;
    wrong.emplace_back(
        fmt::format("links[{}].links", i),
        fmt::format("no link with a limited rate is named '{}'; 'weir check' lists them, for example {}",
                    slow.links, cluster.links().empty() ? "gpu[0].nic0.out" : cluster.links().front().name));
  }
  for (std::size_t i = 0; i < conditions.background.size(); ++i) {
    need_machines(fmt::format("background[{}].from", i), conditions.background[i].from);
    need_machines(fmt::format("background[{}].into", i), conditions.background[i].into);
    const auto& [from, into, rate, spell] = conditions.background[i];
    if (from == into && from.find('*') == std::string::npos)
      wrong.emplace_back(
          fmt::format("background[{}].into", i),
          fmt::format("{} cannot send to itself through the network; name another machine", into));
  }
  if (const auto full = full_link(conditions.background, left, cluster)) {
    wrong.emplace_back(fmt::format("background[{}].rate", full->first),
                       fmt::format("background traffic takes all of {}, which has {}",
                                   cluster.link(full->second).name, text(cluster.link(full->second).rate)));
  }
  return wrong;
}

Circumstances::Circumstances(const Conditions& conditions, const Cluster& cluster)
    : cluster_(&cluster),
      incast_(conditions.incast),
      by_link_(cluster.links().size()),
      receivers_(cluster.links().size(), false),
      slow_(cluster.machines().size()),
      stops_(cluster.machines().size()) {
  for (const SlowLinks& slow : conditions.links) {
    for (const LinkId link : links_named(slow.links, cluster)) add(link, {slow.spell, slow.factor, 0.0});
    spells_.push_back(slow.spell);
  }
  for (const Background& background : conditions.background) {
    for (const LinkId link : links_of(background, cluster))
      add(link, {background.spell, 1.0, static_cast<double>(background.rate.value())});
    spells_.push_back(background.spell);
  }
  for (const Straggler& straggler : conditions.stragglers) {
    for (const MachineId machine : machines_named(straggler.machines, cluster))
      slow_[machine.index()].push_back(straggler);
  }
  for (const Stop& stop : conditions.stops) {
    const std::vector<MachineId> machines = machines_named(stop.machines, cluster);
    if (!stop.spell.lasting) {
      for (const MachineId machine : machines) failures_.emplace_back(machine, Instant() + stop.spell.at);
      continue;
    }
    for (const MachineId machine : machines) {
      stops_[machine.index()].push_back(stop.spell);
      for (std::size_t i = 0; i < cluster.links().size(); ++i) {
        if (cluster.links()[i].machine == machine) add(LinkId(i), {stop.spell, 0.0, 0.0});
      }
    }
    spells_.push_back(stop.spell);
  }
  std::ranges::stable_sort(failures_, {}, &std::pair<MachineId, Instant>::second);
  for (std::size_t i = 0; i < by_link_.size(); ++i) {
    if (!by_link_[i].empty()) changing_.emplace_back(i);
  }
  for (const Spell& spell : spells_) {
    if (!spell.every)
      once_over_ = std::max(once_over_, Instant() + spell.at + spell.lasting.value_or(Duration(0)));
  }
  if (!incast_) return;
  for (const Machine& machine : cluster.machines()) {
    for (const Nic& nic : machine.nics) receivers_[nic.in.index()] = cluster.link(nic.in).rate.limited();
  }
}

// A link without a limit has no rate that could be reduced.
void Circumstances::add(LinkId link, const Effect& effect) {
  if (cluster_->link(link).rate.limited()) by_link_[link.index()].push_back(effect);
}

double Circumstances::factor(LinkId link, int messages, Instant now) const {
  double factor = 1.0;
  double taken = 0.0;
  for (const Effect& effect : by_link_[link.index()]) {
    if (!effect.spell.holds(now)) continue;
    factor *= effect.factor;
    taken += effect.taken;
  }
  factor = std::max(0.0, factor - taken / rate_of(link, *cluster_));
  if (receives(link)) {
    const int beyond = std::max(0, messages - incast_->senders);
    factor *= std::max(kLeastOfIncast, 1.0 - incast_->loss * beyond);
  }
  return factor;
}

std::optional<Instant> Circumstances::next_change(Instant now) const {
  std::optional<Instant> next;
  for (const Spell& spell : spells_) {
    const std::optional<Instant> change = spell.next_change(now);
    if (change && (!next || *change < *next)) next = change;
  }
  return next;
}

double Circumstances::compute_factor(MachineId machine, double jitter, Random& random) const {
  double factor = 1.0;
  double variance = jitter * jitter;
  for (const Straggler& straggler : slow_[machine.index()]) {
    factor *= straggler.compute;
    variance += straggler.jitter * straggler.jitter;
  }
  return variance > 0.0 ? factor * std::max(0.0, 1.0 + std::sqrt(variance) * random.normal()) : factor;
}

Duration Circumstances::stretched(MachineId machine, Instant now, Duration work) const {
  const std::vector<Spell>& stops = stops_[machine.index()];
  if (stops.empty()) return work;
  Instant at = now;
  constexpr int kMostChanges = 10'000'000;
  int changes = 0;
  for (Duration left = work; left > Duration(0);) {
    // Stops that leave no time between them never end; the run then takes longer than the limit.
    if (++changes > kMostChanges) return kLongestRun + Duration(1);
    std::optional<Instant> change;
    bool stopped = false;
    for (const Spell& spell : stops) {
      stopped = stopped || spell.holds(at);
      const std::optional<Instant> next = spell.next_change(at);
      if (next && (!change || *next < *change)) change = next;
    }
    if (!change) return at - now + left;  // all stops are over
    const Duration passed = stopped ? Duration(0) : std::min(left, *change - at);
    left = left - passed;
    at = left > Duration(0) ? *change : at + passed;
  }
  return at - now;
}

}  // namespace weir
