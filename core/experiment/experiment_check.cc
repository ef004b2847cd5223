#include "core/experiment/experiment_check.h"

#include <algorithm>
#include <set>

#include "core/base/nearest.h"
#include "core/base/units_text.h"
#include "core/strategies/strategy.h"

namespace weir {
namespace {

constexpr std::string_view kAll = "all";

class Check {
 public:
  Check(ExperimentText& text, const Value& document, Complaints& complaints)
      : text_(text), experiment_(text.experiment), document_(document), complaints_(complaints) {}

  void run() {
    if (experiment_.strategies.empty()) complain("strategies", "there is none; try [\"all\"]");
    experiment_.strategies = expanded("strategies", experiment_.strategies);
    experiment_.timelines = expanded("timelines", experiment_.timelines);
    check_baseline();
    check_timelines();
    check_size("partition_size", experiment_.options.partition_size);
    check_size("finest_part", experiment_.options.finest_part);
    check_size("fusion_size", experiment_.options.fusion_size);
    check_credit();
    check_seeds();
  }

 private:
  static std::vector<std::string> known() {
    std::vector<std::string> names;
    for (const Strategy& strategy : strategies()) names.emplace_back(strategy.name);
    return names;
  }

  bool check_name(const std::string& path, const std::string& name) {
    const std::vector<std::string> names = known();
    if (std::find(names.begin(), names.end(), name) != names.end()) return true;
    unknown_ = true;
    const std::optional<std::string> meant = nearest(name, names);
    const std::string remedy =
        meant ? fmt::format("did you mean '{}'?", *meant) : "strategies are " + quoted(names);
    complain(path, fmt::format("there is no strategy '{}'; {}", name, remedy));
    return false;
  }

  // The list with 'all' replaced and each name once.
  std::vector<std::string> expanded(const std::string& path, const std::vector<std::string>& names) {
    std::vector<std::string> result;
    const auto add = [&](const std::string& name) {
      if (std::find(result.begin(), result.end(), name) == result.end()) result.push_back(name);
    };
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == kAll) {
        for (const std::string& name : known()) add(name);
      } else if (is_element(path, i, Value::Kind::kString) && check_name(joined(path, i), names[i])) {
        add(names[i]);
      }
    }
    return result;
  }

  // False for an element that the reader has complained of already.
  bool is_element(const std::string& path, std::size_t i, Value::Kind kind) const {
    const Value* list = document_.find(path);
    if (list == nullptr || !list->is(Value::Kind::kArray) || i >= list->elements().size()) return true;
    return list->elements()[i].is(kind);
  }

  bool is_negative(const std::string& path) const {
    const Value& value = located(document_, path);
    return value.is(Value::Kind::kInteger) && value.as_integer() < 0;
  }

  // The default is the first of the strategies where ring is not among them.
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

  void check_size(const std::string& path, Bytes size) {
    if (size < kSmallestPart) {
      complain(path,
               fmt::format("{} is too small; at least {}", weir::text(size), weir::text(kSmallestPart)));
    } else if (size > kLargestPart) {
      complain(path, fmt::format("{} is too large; at most {}", weir::text(size), weir::text(kLargestPart)));
    }
  }

  void check_credit() {
    const Value& credit = text_.credit;
    const bool number = credit.is(Value::Kind::kInteger);
    if (number && credit.as_integer() >= 1 && credit.as_integer() <= kMostCredit) {
      experiment_.options.credit = static_cast<int>(credit.as_integer());
    } else if (credit.is(Value::Kind::kString) && credit.as_string() == kUnlimitedCredit) {
      experiment_.options.credit = std::nullopt;
    } else {
      complain("credit", fmt::format("expected an integer from 1 to {}, or '{}', not {}", kMostCredit,
                                     kUnlimitedCredit, description(credit)));
    }
  }

  void check_seeds() {
    const std::vector<std::uint64_t>& seeds = experiment_.seeds;
    if (seeds.empty()) complain("seeds", "there is none; try [1]");
    std::set<std::uint64_t> seen;
    for (std::size_t i = 0; i < seeds.size(); ++i) {
      const bool read = is_element("seeds", i, Value::Kind::kInteger) && !is_negative(joined("seeds", i));
      if (!read || seen.insert(seeds[i]).second) continue;
      complain(joined("seeds", i), fmt::format("{} stands here twice", seeds[i]));
    }
  }

  void complain(const std::string& path, const std::string& what) {
    complaints_.add(located(document_, path), path, what);
  }

  ExperimentText& text_;
  Experiment& experiment_;
  const Value& document_;
  Complaints& complaints_;
  bool unknown_ = false;  // some name is no strategy's
};

}  // namespace

void check_experiment(ExperimentText& text, const Value& document, Complaints& complaints) {
  Check(text, document, complaints).run();
}

}  // namespace weir
