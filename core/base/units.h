// Sizes, rates and times as types, so that an expression compiles only if its units are right. All are
// integers: bytes, bytes per second and nanoseconds. Doubles appear at the edges only, through seconds() and
// from_seconds().
#pragma once

#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>

#include "core/base/check.h"

namespace weir {

__extension__ using Wide = __int128;  // products of two 64-bit quantities

/// A number of bytes; differences may be negative.
class Bytes {
 public:
  constexpr Bytes() = default;
  constexpr explicit Bytes(std::int64_t count) : count_(count) {}
  constexpr std::int64_t count() const { return count_; }
  friend constexpr auto operator<=>(Bytes, Bytes) = default;
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return Bytes(a.count_ + b.count_); }
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return Bytes(a.count_ - b.count_); }
  friend constexpr Bytes operator*(Bytes a, std::int64_t n) { return Bytes(a.count_ * n); }
  friend constexpr Bytes operator*(std::int64_t n, Bytes a) { return a * n; }
  friend constexpr std::int64_t operator/(Bytes a, Bytes b) { return a.count_ / b.count_; }
  friend constexpr Bytes operator/(Bytes a, std::int64_t n) { return Bytes(a.count_ / n); }
  constexpr Bytes& operator+=(Bytes b) { return *this = *this + b; }
  constexpr Bytes& operator-=(Bytes b) { return *this = *this - b; }

 private:
  std::int64_t count_ = 0;
};

/// A span of time in nanoseconds; may be negative.
class Duration {
 public:
  constexpr Duration() = default;
  constexpr explicit Duration(std::int64_t ns) : ns_(ns) {}
  static Duration from_seconds(double seconds) { return Duration(std::llround(seconds * 1e9)); }
  constexpr std::int64_t ns() const { return ns_; }
  constexpr double seconds() const { return static_cast<double>(ns_) * 1e-9; }
  friend constexpr auto operator<=>(Duration, Duration) = default;
  friend constexpr Duration operator+(Duration a, Duration b) { return Duration(a.ns_ + b.ns_); }
  friend constexpr Duration operator-(Duration a, Duration b) { return Duration(a.ns_ - b.ns_); }
  friend constexpr Duration operator*(Duration a, std::int64_t n) { return Duration(a.ns_ * n); }
  friend constexpr Duration operator/(Duration a, std::int64_t n) { return Duration(a.ns_ / n); }
  friend constexpr double operator/(Duration a, Duration b) {
    return static_cast<double>(a.ns_) / static_cast<double>(b.ns_);
  }
  constexpr Duration& operator+=(Duration b) { return *this = *this + b; }

 private:
  std::int64_t ns_ = 0;
};

/// A point in a world's time: nanoseconds since that world began.
class Instant {
 public:
  constexpr Instant() = default;
  constexpr explicit Instant(std::int64_t ns) : ns_(ns) {}
  static Instant from_seconds(double seconds) { return Instant(std::llround(seconds * 1e9)); }
  constexpr std::int64_t ns() const { return ns_; }
  friend constexpr auto operator<=>(Instant, Instant) = default;
  friend constexpr Instant operator+(Instant a, Duration d) { return Instant(a.ns_ + d.ns()); }
  friend constexpr Duration operator-(Instant a, Instant b) { return Duration(a.ns_ - b.ns_); }

 private:
  std::int64_t ns_ = 0;
};

/// How fast something transfers or sums. At `unlimited()` it takes no time at all.
class BytesPerSecond {
 public:
  constexpr BytesPerSecond() = default;
  constexpr explicit BytesPerSecond(std::int64_t value) : value_(value) {}
  static constexpr BytesPerSecond unlimited() {
    return BytesPerSecond(std::numeric_limits<std::int64_t>::max());
  }
  constexpr std::int64_t value() const { return value_; }
  constexpr bool limited() const { return *this != unlimited(); }
  friend constexpr auto operator<=>(BytesPerSecond, BytesPerSecond) = default;

  /// The joint rate of two resources that work in parallel.
  friend constexpr BytesPerSecond operator+(BytesPerSecond a, BytesPerSecond b) {
    std::int64_t sum = 0;
    const bool counted = !__builtin_add_overflow(a.value_, b.value_, &sum);
    return a.limited() && b.limited() && counted ? BytesPerSecond(sum) : unlimited();
  }
  friend constexpr BytesPerSecond operator/(BytesPerSecond a, std::int64_t n) {
    return a.limited() ? BytesPerSecond(a.value_ / n) : a;
  }

 private:
  std::int64_t value_ = 0;
};

/// The time that the bytes take at this rate, rounded up to a whole nanosecond.
constexpr Duration operator/(Bytes bytes, BytesPerSecond rate) {
  if (!rate.limited() || bytes.count() == 0) return Duration(0);
  WEIR_CHECK(rate.value() > 0, rate.value());
  const Wide product = static_cast<Wide>(bytes.count()) * 1'000'000'000;
  return Duration(static_cast<std::int64_t>((product + rate.value() - 1) / rate.value()));
}

inline namespace literals {
constexpr Bytes operator""_B(unsigned long long n) { return Bytes(static_cast<std::int64_t>(n)); }
constexpr Bytes operator""_KB(unsigned long long n) { return Bytes(static_cast<std::int64_t>(n) * 1000); }
constexpr Bytes operator""_MB(unsigned long long n) {
  return Bytes(static_cast<std::int64_t>(n) * 1'000'000);
}
constexpr Bytes operator""_GB(unsigned long long n) {
  return Bytes(static_cast<std::int64_t>(n) * 1'000'000'000);
}
constexpr Bytes operator""_KiB(unsigned long long n) { return Bytes(static_cast<std::int64_t>(n) * 1024); }
constexpr Bytes operator""_MiB(unsigned long long n) { return Bytes(static_cast<std::int64_t>(n) << 20); }
constexpr Duration operator""_ns(unsigned long long n) { return Duration(static_cast<std::int64_t>(n)); }
constexpr Duration operator""_us(unsigned long long n) {
  return Duration(static_cast<std::int64_t>(n) * 1000);
}
constexpr Duration operator""_ms(unsigned long long n) {
  return Duration(static_cast<std::int64_t>(n) * 1'000'000);
}
constexpr Duration operator""_s(unsigned long long n) {
  return Duration(static_cast<std::int64_t>(n) * 1'000'000'000);
}
constexpr BytesPerSecond operator""_Gbps(unsigned long long n) {
  return BytesPerSecond(static_cast<std::int64_t>(n) * 125'000'000);
}
constexpr BytesPerSecond operator""_GBps(unsigned long long n) {
  return BytesPerSecond(static_cast<std::int64_t>(n) * 1'000'000'000);
}
}  // namespace literals

}  // namespace weir
