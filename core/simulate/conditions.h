// Conditions of a simulated run that its topology does not describe: machines that are slow or stop, links
// that are slow for a while, other traffic, and receivers that too many senders overwhelm.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/cluster/cluster.h"

namespace weir {

/// Engines count seconds in doubles, which resolve nanoseconds up to this time.
constexpr Duration kLongestRun{4'000'000'000'000'000};

/// When a condition holds: from `at` on, for the time `lasting` (or for good), and again after each period
/// `every`. Times count from the start of the run, warm-up included.
struct Spell {
  Duration at;
  std::optional<Duration> lasting;
  std::optional<Duration> every;  // not shorter than `lasting`, which must then be given

  bool holds(Instant now) const;
  /// The first change after `now`, if there is one.
  std::optional<Instant> next_change(Instant now) const;
};

/// Names of machines and links may contain '*', which matches any text (core/cluster/subcluster.h).
struct Straggler {
  std::string machines;
  double compute = 1.0;  // factor on the compute times of its GPUs
  double jitter = 0.0;   // relative standard deviation of its compute times, besides the model's
};
struct SlowLinks {
  std::string links;
  double factor = 1.0;  // of their rates; 0 means down
  Spell spell;
};
/// Traffic that does not give way: each machine in `from` sends `rate` to each other machine in `into`,
/// through the first NIC of both.
struct Background {
  std::string from;
  std::string into;
  BytesPerSecond rate;
  Spell spell;
};
/// Congestion at a receiving NIC. Each message beyond the first `senders` that arrive at once costs `loss` of
/// the NIC's rate for retransmissions, up to nine tenths in all.
struct Incast {
  int senders = 1;
  double loss = 0.0;
};
/// A machine stops, with all its devices and links, and later resumes where it was. Without `lasting` it has
/// failed, and the run fails too if a job has work for the machine.
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

/// Conditions that are impossible on this cluster, each with its path, such as "links[0].links": names that
/// match nothing, and background traffic that leaves a link no rate or goes from a machine to itself.
std::vector<std::pair<std::string, std::string>> faults(const Conditions& conditions, const Cluster& cluster);

/// The conditions applied to one run on one cluster. They must have no faults(). The cluster outlives it.
class Circumstances {
 public:
  Circumstances(const Conditions& conditions, const Cluster& cluster);

  /// Whether the link's rate ever differs from the rate in the cluster.
  bool varies(LinkId link) const { return !by_link_[link.index()].empty() || receives(link); }
  /// Whether messages arrive through the link and their number at one time affects its rate.
  bool receives(LinkId link) const { return receivers_[link.index()]; }
  /// The fraction of the link's rate that is available while `messages` messages arrive through it.
  double factor(LinkId link, int messages, Instant now) const;
  /// All links whose factors change at some time, in order of id.
  const std::vector<LinkId>& changing() const { return changing_; }
  /// When any factor changes next; none if none does.
  std::optional<Instant> next_change(Instant now) const;
  /// When the last condition that occurs only once is over.
  Instant once_over() const { return once_over_; }

  /// The factor on the machine's compute time. `random` must belong to this one computation.
  double compute_factor(MachineId machine, double jitter, Random& random) const;
  /// How long the machine takes for something that takes `work` without stops.
  Duration stretched(MachineId machine, Instant now, Duration work) const;
  /// Machines that fail for good and when, earliest first.
  const std::vector<std::pair<MachineId, Instant>>& failures() const { return failures_; }

 private:
  // Something that reduces a link's rate, by a factor or by an amount in bytes per second.
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
  std::vector<Spell> spells_;                 // of everything that acts on links
  std::vector<std::vector<Straggler>> slow_;  // by machine
  std::vector<std::vector<Spell>> stops_;     // by machine, only stops that end
  std::vector<std::pair<MachineId, Instant>> failures_;
  Instant once_over_;
};

}  // namespace weir
