// What a simulated run meets that its topology does not tell: machines that are slower than others or stop,
// links that are slow for a while, other traffic, receivers that many senders overwhelm.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/cluster/cluster.h"

namespace weir {

/// Engines count seconds in doubles, which tell nanoseconds apart up to here.
constexpr Duration kLongestRun{4'000'000'000'000'000};

/// When something holds: from `at` on, for `lasting` (or for good), and again after each `every`. Times count
/// from the start of the run, warm-up included.
struct Spell {
  Duration at;
  std::optional<Duration> lasting;
  std::optional<Duration> every;  // not shorter than `lasting`, which is given too

  bool holds(Instant now) const;
  /// The first change after `now`, if there is one.
  std::optional<Instant> next_change(Instant now) const;
};

/// Names of machines and links may hold '*', which stands for any text (core/cluster/subcluster.h).
struct Straggler {
  std::string machines;
  double compute = 1.0;  // its GPUs take so many times as long
  double jitter = 0.0;   // relative standard deviation of its compute times, beside the model's
};
struct SlowLinks {
  std::string links;
  double factor = 1.0;  // of their rates; 0 is down
  Spell spell;
};
/// Dispatcher that does not give way: each machine of the one sends each of the other, but not itself,
/// `rate`, through the first NIC of both.
struct Background {
  std::string from;
  std::string into;
  BytesPerSecond rate;
  Spell spell;
};
/// Each message that comes in through a NIC beside `senders` others takes `loss` of the NIC's rate for
/// retransmissions, up to nine tenths in all.
struct Incast {
  int senders = 1;
  double loss = 0.0;
};
/// A machine stops, with all its devices and links; it goes on where it was, or, without `lasting`, has
/// failed, and so has the run if a job has work for it.
struct Stop {
  std::string machines;
  Spell spell;
};

/// A value.
struct Conditions {
  std::vector<Straggler> stragglers;
  std::vector<SlowLinks> links;
  std::vector<Background> background;
  std::optional<Incast> incast;
  std::vector<Stop> stops;

  bool none() const {
    return stragglers.empty() && links.empty() && background.empty() && !incast && stops.empty();
  }
  /// Whether compute times vary by chance.
  bool jitter() const;
};

/// What cannot be on this cluster, each with its path, such as "links[0].links": names of nothing, background
/// traffic that leaves a link no rate or that a machine sends itself.
std::vector<std::pair<std::string, std::string>> faults(const Conditions& conditions, const Cluster& cluster);

/// The conditions as one run on one cluster meets them; they have no faults. The cluster outlives it.
class Circumstances {
 public:
  Circumstances(const Conditions& conditions, const Cluster& cluster);

  /// Whether the link's rate is ever another than the cluster's.
  bool varies(LinkId link) const { return !by_link_[link.index()].empty() || receives(link); }
  /// Messages come in through it, and how many come at once matters.
  bool receives(LinkId link) const { return receivers_[link.index()]; }
  /// The fraction of the link's rate that is there while `messages` come in through it.
  double factor(LinkId link, int messages, Instant now) const;
  /// All links whose factors change at some time, by id.
  const std::vector<LinkId>& changing() const { return changing_; }
  /// When any factor changes next, if ever.
  std::optional<Instant> next_change(Instant now) const;
  /// When all is over that comes once only.
  Instant once_over() const { return once_over_; }

  /// How many times as long the machine's computation takes; `random` is of this one.
  double compute_factor(MachineId machine, double jitter, Random& random) const;
  /// How long the machine takes for what takes it `work` while it does not stop.
  Duration stretched(MachineId machine, Instant now, Duration work) const;
  /// Machines that fail for good, and when, the first one first.
  const std::vector<std::pair<MachineId, Instant>>& failures() const { return failures_; }

 private:
  // What acts on a link: a part of its rate goes, as a factor or as bytes per second.
  struct Effect {
    Spell spell;
    double factor = 1.0;
    double taken = 0.0;
  };
  void add(LinkId link, const Effect& effect);

  const Cluster* cluster_;
  std::optional<Incast> incast_;
  std::vector<std::vector<Effect>> by_link_;
  std::vector<bool> receivers_;               // by link
  std::vector<LinkId> changing_;              // by id
  std::vector<Spell> spells_;                 // of all that acts on links
  std::vector<std::vector<Straggler>> slow_;  // by machine
  std::vector<std::vector<Spell>> stops_;     // by machine, those that end
  std::vector<std::pair<MachineId, Instant>> failures_;
  Instant once_over_;
};

}  // namespace weir
