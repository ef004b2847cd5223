// What an experiment varies, and how the values come together into points: lists of which every combination
// is a point, or one value after the other beside the first of each; and samples drawn from ranges.
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

/// How the lists of a sweep come together.
enum class Combination {
  kGrid,        // every combination
  kOneAtATime,  // the first of all lists, then each other value beside the first of the other lists
};

constexpr auto enum_names(Combination /*combination*/) {
  return std::array<Named<Combination>, 2>{
      {{Combination::kGrid, "grid"}, {Combination::kOneAtATime, "one_at_a_time"}}};
}

/// How samples are drawn.
enum class Sampling {
  kLatinHypercube,  // as many slices of each range as there are samples, one in each (McKay and others, 1979)
  kRandom,          // each on its own
};

constexpr auto enum_names(Sampling /*sampling*/) {
  return std::array<Named<Sampling>, 2>{
      {{Sampling::kLatinHypercube, "latin_hypercube"}, {Sampling::kRandom, "random"}}};
}

enum class Scale { kLinear, kLogarithmic };

constexpr auto enum_names(Scale /*scale*/) {
  return std::array<Named<Scale>, 2>{{{Scale::kLinear, "linear"}, {Scale::kLogarithmic, "logarithmic"}}};
}

// Each point is read and checked before the first runs: that may take a minute, and no table shows more.
constexpr int kMostPoints = 10'000;

/// The complaint about so many.
std::string too_many(double points);

/// What values are drawn from: whole numbers, numbers, sizes, rates or durations, the ends among them.
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

/// Samples as an experiment's file has them.
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

/// What is varied together.
struct Axis {
  std::string path;  // one, or several as in a Setting
  std::vector<Setting> choices;
  bool sampled = false;  // all sampled axes go through their choices in step, and have equally many
};

/// How a file's name at a path becomes what is in the file.
using Resolve = std::function<Result<Value>(const Value& value, std::string_view path)>;

/// The axis that a sweep's member says.
Result<Axis> read_axis(const Value::Member& member, const Resolve& resolve);

/// The axes that samples say, drawn. The value is the member "samples" of an experiment. Each axis has its
/// own numbers, whatever is sampled beside it.
Result<std::vector<Axis>> read_samples(const Value& samples);

/// How many points these make.
double count_points(const std::vector<Axis>& axes, Combination combination);
/// Of a grid the last axis varies fastest, and samples vary faster than that.
std::vector<Setting> point_of(const std::vector<Axis>& axes, Combination combination, std::size_t index);

/// Whether the path names a whole topology or trace, which may be a file.
bool is_file_part(std::string_view path);

}  // namespace weir
