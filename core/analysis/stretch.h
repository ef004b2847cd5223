// Stretches of iterations, and the least time that they take. A bound of one iteration does not hold for the
// next ones: unlike machines drift apart, and one of them may begin an iteration while another still ends the
// one before.
#pragma once

#include <vector>

namespace weir {

/// Which iterations a bound is for: the mean of `iterations`, from the end of the `warm_up` iterations before
/// them. An iteration ends when the last machine's last forward does.
struct Stretch {
  static constexpr int kEndless = 0;
  int warm_up = 0;
  int iterations = 1;
  /// The iteration that all machines start together.
  static constexpr Stretch first() { return {0, 1}; }
  /// The period of a run that never ends.
  static constexpr Stretch steady() { return {1, kEndless}; }
  friend bool operator==(const Stretch&, const Stretch&) = default;
};

/// Lower bounds of the time from the end of any iteration to the end of the n-th after it, for each n. Two
/// stretches that follow one another take the sum of both. In seconds.
class Windows {
 public:
  /// n iterations take at least this long.
  void offer(int n, double seconds) { offer(n, seconds, 0.0); }
  /// And each one after the n-th at least this much longer.
  void offer(int n, double seconds, double each);
  /// All that `other` says holds too.
  void offer(const Windows& other);
  /// The least mean time of these iterations, if the first of all takes at least `first`.
  double mean(const Stretch& stretch, double first) const;

 private:
  static constexpr int kMost = 24;  // longer stretches are made of shorter ones
  struct Line {
    int n;
    double seconds;
    double each;
  };
  std::vector<double> shortest() const;
  double total(int iterations) const;
  std::vector<Line> lines_;
};

}  // namespace weir
