// What an experiment varies, and how values combine into points: lists that vary in every combination or one
// at a time; and samples drawn from ranges.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/document/fields.h"
#include "core/experiment/settings.h"

namespace weir {

/// How the lists of a sweep combine.
enum class Combination {
  kGrid,        // every combination
  kOneAtATime,  // the first values, then each other value with the first values of the other lists
};

constexpr auto enum_names(Combination /*combination*/) {
  return std::array<Named<Combination>, 2>{
      {{Combination::kGrid, "grid"}, {Combination::kOneAtATime, "one_at_a_time"}}};
}

/// How samples are drawn.
enum class Sampling {
  kLatinHypercube,  // one sample in each of `count` equal slices of each range (McKay and others, 1979)
  kRandom,          // each independently
};

constexpr auto enum_names(Sampling /*sampling*/) {
  return std::array<Named<Sampling>, 2>{
      {{Sampling::kLatinHypercube, "latin_hypercube"}, {Sampling::kRandom, "random"}}};
}

enum class Scale { kLinear, kLogarithmic };

constexpr auto enum_names(Scale /*scale*/) {
  return std::array<Named<Scale>, 2>{{{Scale::kLinear, "linear"}, {Scale::kLogarithmic, "logarithmic"}}};
}

// All points are read and checked before the first run. More would take over a minute, and no table shows
// more.
constexpr int kMostPoints = 10'000;

/// The error text for too many points.
std::string too_many(double points);

/// A range to draw from: whole numbers, numbers, sizes, rates or durations, both ends included.
struct SampleRange {
  Value from;
  Value to;
  Scale scale = Scale::kLinear;
};

template <class Visitor>
void fields(Visitor& visitor, SampleRange& range) {
  visitor.required("from", range.from, "the smallest value: a number, a size, a rate or a duration");
  visitor.required("to", range.to, "the largest value");
  visitor.optional("scale", range.scale, "whether values or their logarithms are spread evenly");
}

/// Samples as an experiment file states them.
struct Samples {
  Sampling method = Sampling::kLatinHypercube;
  int count = 1;
  std::uint64_t seed = 1;
  Value over;  // an object
};

template <class Visitor>
void fields(Visitor& visitor, Samples& samples) {
  visitor.optional("method", samples.method, "how samples are drawn");
  visitor.required("count", samples.count, "how many samples; repeated ones are left out",
                   within(1, kMostPoints));
  visitor.optional("seed", samples.seed, "the seed of the samples: the same seed gives the same points");
  visitor.required("over", samples.over,
                   "what is sampled: ranges, or lists of values, by path as in a sweep");
}

/// One or more paths that vary together.
struct Axis {
  std::string path;  // one, or several as in a Setting
  std::vector<Setting> choices;
  bool sampled = false;  // sampled axes have equally many choices and advance together
};

/// Turns the name of a file at a path into the file's content.
using Resolve = std::function<Result<Value>(const Value& value, std::string_view path)>;

/// The axis that a member of a sweep states.
Result<Axis> read_axis(const Value::Member& member, const Resolve& resolve);

/// Draws the axes of samples, the member "samples" of an experiment. Each axis has random numbers of its own,
/// so it does not depend on the others.
Result<std::vector<Axis>> read_samples(const Value& samples);

/// How many points the axes make.
double count_points(const std::vector<Axis>& axes, Combination combination);
/// In a grid the last axis varies fastest; samples vary faster still.
std::vector<Setting> point_of(const std::vector<Axis>& axes, Combination combination, std::size_t index);

/// Whether the path names a whole topology or trace, which may be a file.
bool is_file_part(std::string_view path);

}  // namespace weir
