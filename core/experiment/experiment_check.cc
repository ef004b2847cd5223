#include "core/experiment/experiment_check.h"

#include <algorithm>
#include <set>

#include "core/base/nearest.h"
#include "core/base/units_text.h"
#include "core/document/read_fields.h"
#include "core/experiment/experiment_file.h"
#include "core/strategies/strategy.h"

namespace weir {
namespace {

constexpr std::string_view kAll = "all";

// A published value as a number in the unit of its measure; none for null.
Result<std::optional<double>> published_number(Measure measure, const Value& value) {
  if (value.is(Value::Kind::kNull)) return std::nullopt;
  const auto quantity = [&](auto parse, auto number) -> Result<std::optional<double>> {
    if (!value.is(Value::Kind::kString)) {
      return failure(fmt::format("expected text such as '{}', not {}",
                                 measure == Measure::kIteration ? "1400ms" : "51.43Gbps",
                                 description(value)));
    }
    const auto parsed = parse(value.as_string());
    if (!parsed) return tl::unexpected(parsed.error());
    if (number(*parsed) <= 0)
      return failure(fmt::format("expected a value above 0, not '{}'", value.as_string()));
    return number(*parsed);
  };
  switch (measure) {
    case Measure::kIteration:
      return quantity(parse_duration, [](Duration time) { return time.seconds(); });
    case Measure::kGoodput:
      return quantity(parse_rate, [](BytesPerSecond rate) { return static_cast<double>(rate.value()); });
    case Measure::kThroughput:
    case Measure::kEfficiency:
    case Measure::kSpeedup:
      break;
  }
  const bool number = value.is(Value::Kind::kInteger) || value.is(Value::Kind::kDouble);
  if (!number || value.as_double() <= 0) {
    return failure("expected a number above 0, or null, not " + description(value));
  }
  return value.as_double();
}

class Check {
 public:
  Check(ExperimentText& text, const Value& document, Complaints& complaints)
      : text_(text), experiment_(text.experiment), document_(document), complaints_(complaints) {}

  void run() {
    check_own_options("", experiment_.options, text_.credit);
    read_strategies();
    experiment_.timelines = drawn();
    check_baseline();
    check_timelines();
    check_seeds();
    check_published();
    check_conditions();
    check_other_jobs();
  }

 private:
  static std::vector<std::string> known() {
    std::vector<std::string> names;
    for (const Strategy& strategy : strategies()) names.emplace_back(strategy.name);
    return names;
  }

  std::vector<std::string> known_here() const {
    std::vector<std::string> names = known();
    for (const auto& [name, variant] : experiment_.variants) names.push_back(name);
    return names;
  }

  bool check_name(const std::string& path, const std::string& name) {
    return check_strategy(path, name, known_here());
  }

  bool check_strategy(const std::string& path, const std::string& name,
                      const std::vector<std::string>& names) {
    if (std::find(names.begin(), names.end(), name) != names.end()) return true;
    unknown_ = true;
    const std::optional<std::string> meant = nearest(name, names);
    const std::string remedy =
        meant ? fmt::format("did you mean '{}'?", *meant) : "strategies are " + quoted(names);
    complain(path, fmt::format("there is no strategy '{}'; {}", name, remedy));
    return false;
  }

  // Replaces 'all' by every strategy, and takes each name once.
  void read_strategies() {
    experiment_.strategies.clear();
    if (!text_.strategies.is(Value::Kind::kArray)) {
      unknown_ = true;
      return complain("strategies", "expected an array, not " + description(text_.strategies));
    }
    const std::vector<Value>& list = text_.strategies.elements();
    if (list.empty()) complain("strategies", "the list is empty; try [\"all\"]");
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string path = joined("strategies", i);
      if (list[i].is(Value::Kind::kObject)) {
        read_variant(path, list[i]);
      } else if (!list[i].is(Value::Kind::kString)) {
        unknown_ = true;
        complain(path, "expected a strategy's name, or an object with 'name' and 'as', not " +
                           description(list[i]));
      } else if (list[i].as_string() == kAll) {
        for (const std::string& name : known()) compare(name);
      } else if (check_name(path, list[i].as_string())) {
        compare(list[i].as_string());
      }
    }
  }

  void compare(const std::string& name) {
    std::vector<std::string>& compared = experiment_.strategies;
    if (std::find(compared.begin(), compared.end(), name) == compared.end()) compared.push_back(name);
  }

  // A variant has the experiment's options, except for those that it gives itself.
  void read_variant(const std::string& path, const Value& given) {
    VariantText variant;
    variant.options = experiment_.options;
    variant.credit = text_.credit;
    Complaints wrong;
    Reader reader(given, path, wrong);
    fields(reader, variant);
    reader.finish();
    if (!wrong.empty()) {
      unknown_ = true;
      return complaints_.add(wrong);
    }
    check_own_options(path + ".", variant.options, variant.credit);
    const std::vector<std::string> names = known_here();
    if (std::find(names.begin(), names.end(), variant.as) != names.end() || variant.as == kAll) {
      return complain(joined(path, "as"),
                      fmt::format("the name '{}' is already taken; choose another", variant.as));
    }
    const std::vector<std::string> strategies = known();
    if (std::find(strategies.begin(), strategies.end(), variant.name) == strategies.end()) {
      check_strategy(joined(path, "name"), variant.name, strategies);
      return;
    }
    check_settled(path, given, variant.name, variant.options);
    experiment_.variants[variant.as] = {variant.name, variant.options, given};
    compare(variant.as);
  }

  // Options that the strategy fixes itself cannot be given.
  void check_settled(const std::string& path, const Value& given, const std::string& strategy,
                     const Options& options) {
    const nlohmann::ordered_json wanted = write_options(options);
    const nlohmann::ordered_json actual = write_options((*strategy_named(strategy))->settled(options));
    for (const Value::Member& member : given.members()) {
      if (!wanted.contains(member.name) || wanted[member.name] == actual[member.name]) continue;
      complain(joined(path, member.name),
               fmt::format("{} always has {}; leave it out", strategy, actual[member.name].dump()));
    }
  }

  void check_other_jobs() {
    std::set<std::string> seen;
    for (std::size_t i = 0; i < text_.other_jobs.size(); ++i) {
      const std::string path = joined("other_jobs", i);
      OtherJob& job = text_.other_jobs[i].job;
      check_own_options(path + ".", job.options, text_.other_jobs[i].credit);
      experiment_.other_jobs.push_back(job);
      if (job.name.empty() || job.strategy.empty()) continue;  // already reported
      if (!seen.insert(job.name).second)
        complain(joined(path, "name"),
                 fmt::format("the name '{}' is already taken; choose another", job.name));
      if (check_strategy(joined(path, "strategy"), job.strategy, known()))
        check_settled(path, located(document_, path), job.strategy, job.options);
    }
  }

  // The timelines, with 'all' replaced by the compared strategies.
  std::vector<std::string> drawn() {
    std::vector<std::string> result;
    const auto add = [&](const std::string& name) {
      if (std::find(result.begin(), result.end(), name) == result.end()) result.push_back(name);
    };
    const std::vector<std::string>& names = experiment_.timelines;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == kAll) {
        for (const std::string& name : experiment_.strategies) add(name);
      } else if (is_element("timelines", i, Value::Kind::kString) &&
                 check_name(joined("timelines", i), names[i])) {
        add(names[i]);
      }
    }
    return result;
  }

  // False for an element that the reader has already reported.
  bool is_element(const std::string& path, std::size_t i, Value::Kind kind) const {
    const Value* list = document_.find(path);
    if (list == nullptr || !list->is(Value::Kind::kArray) || i >= list->elements().size()) return true;
    return list->elements()[i].is(kind);
  }

  bool is_negative(const std::string& path) const {
    const Value& value = located(document_, path);
    return value.is(Value::Kind::kInteger) && value.as_integer() < 0;
  }

  // The default is ring, or the first of the strategies if ring is not among them.
  void check_baseline() {
    const std::vector<std::string>& compared = experiment_.strategies;
    if (!check_name("baseline", experiment_.baseline) || unknown_ || compared.empty()) return;
    if (std::find(compared.begin(), compared.end(), experiment_.baseline) != compared.end()) return;
    if (document_.find("baseline") == nullptr) {
      experiment_.baseline = compared.front();
      return;
    }
    complain("baseline", fmt::format("'{}' is not among the strategies; name one of {}, or leave it out",
                                     experiment_.baseline, quoted(compared)));
  }

  void check_timelines() {
    const std::vector<std::string>& compared = experiment_.strategies;
    for (const std::string& name : experiment_.timelines) {
      if (unknown_ || std::find(compared.begin(), compared.end(), name) != compared.end()) continue;
      complain("timelines", fmt::format("'{}' is not among the strategies {}", name, quoted(compared)));
    }
  }

  void check_published() {
    if (!experiment_.published) return;
    std::vector<PublishedCurve>& curves = experiment_.published->curves;
    const std::vector<std::string>& compared = experiment_.strategies;
    for (std::size_t i = 0; i < curves.size(); ++i) {
      const std::string path = joined("published.curves", i);
      PublishedCurve& curve = curves[i];
      if (!unknown_ && std::find(compared.begin(), compared.end(), curve.strategy) == compared.end()) {
        complain(joined(path, "strategy"),
                 fmt::format("'{}' is not among the strategies {}", curve.strategy, quoted(compared)));
      }
      if (!curve.values.is(Value::Kind::kArray)) {
        complain(joined(path, "values"), "expected an array, not " + description(curve.values));
        continue;
      }
      for (std::size_t j = 0; j < curve.values.elements().size(); ++j) {
        const auto number = published_number(curve.measure, curve.values.elements()[j]);
        if (number) {
          curve.numbers.push_back(*number);
        } else {
          complain(joined(joined(path, "values"), j), number.error().text);
        }
      }
    }
  }

  void check_spell(const std::string& path, const Spell& spell) {
    const Duration zero;
    if (spell.lasting && (*spell.lasting <= zero || *spell.lasting > kLongestSpell))
      complain(joined(path, "for"), fmt::format("expected more than 0s, at most {}", text(kLongestSpell)));
    if (!spell.every) return;
    if (!spell.lasting)
      return complain(joined(path, "every"), "a condition that recurs must end: give 'for' as well");
    if (*spell.every <= *spell.lasting || *spell.every < kShortestTurn || *spell.every > kLongestSpell) {
      complain(joined(path, "every"),
               fmt::format("expected more than 'for' ({}), and from {} to {}", text(*spell.lasting),
                           text(kShortestTurn), text(kLongestSpell)));
    }
  }

  void check_conditions() {
    const Conditions& conditions = experiment_.conditions;
    const std::string path = "conditions";
    for (std::size_t i = 0; i < conditions.links.size(); ++i)
      check_spell(joined(joined(path, "links"), i), conditions.links[i].spell);
    for (std::size_t i = 0; i < conditions.background.size(); ++i)
      check_spell(joined(joined(path, "background"), i), conditions.background[i].spell);
    for (std::size_t i = 0; i < conditions.stops.size(); ++i)
      check_spell(joined(joined(path, "stops"), i), conditions.stops[i].spell);
  }

  void check_own_options(const std::string& prefix, Options& options, const Value& credit) {
    check_options(prefix, options, credit, document_, complaints_);
  }

  void check_seeds() {
    const std::vector<std::uint64_t>& seeds = experiment_.seeds;
    if (seeds.empty()) complain("seeds", "the list is empty; try [1]");
    std::set<std::uint64_t> seen;
    for (std::size_t i = 0; i < seeds.size(); ++i) {
      const bool read = is_element("seeds", i, Value::Kind::kInteger) && !is_negative(joined("seeds", i));
      if (!read || seen.insert(seeds[i]).second) continue;
      complain(joined("seeds", i), fmt::format("{} is listed twice", seeds[i]));
    }
  }

  void complain(const std::string& path, const std::string& what) {
    complaints_.add(located(document_, path), path, what);
  }

  ExperimentText& text_;
  Experiment& experiment_;
  const Value& document_;
  Complaints& complaints_;
  bool unknown_ = false;  // some name is not a strategy's
};

}  // namespace

void check_options(const std::string& prefix, Options& options, const Value& credit, const Value& document,
                   Complaints& complaints) {
  const auto complain = [&](const std::string& name, const std::string& what) {
    complaints.add(located(document, prefix + name), prefix + name, what);
  };
  const auto check_size = [&](const char* name, Bytes size) {
    if (size < kSmallestPart)
      complain(name, fmt::format("{} is too small; at least {}", text(size), text(kSmallestPart)));
    if (size > kLargestPart)
      complain(name, fmt::format("{} is too large; at most {}", text(size), text(kLargestPart)));
  };
  check_size("partition_size", options.partition_size);
  check_size("finest_part", options.finest_part);
  check_size("fusion_size", options.fusion_size);
  check_size("bucket_size", options.bucket_size);
  check_size("fusion_buffer", options.fusion_buffer);
  const bool number = credit.is(Value::Kind::kInteger);
  if (number && credit.as_integer() >= 1 && credit.as_integer() <= kMostCredit) {
    options.credit = static_cast<int>(credit.as_integer());
  } else if (credit.is(Value::Kind::kString) && credit.as_string() == kUnlimitedCredit) {
    options.credit = std::nullopt;
  } else {
    complain("credit", fmt::format("expected an integer from 1 to {}, or '{}', not {}", kMostCredit,
                                   kUnlimitedCredit, description(credit)));
  }
}

void check_experiment(ExperimentText& text, const Value& document, Complaints& complaints) {
  Check(text, document, complaints).run();
}

}  // namespace weir
