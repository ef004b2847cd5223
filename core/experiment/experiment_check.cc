#include "core/experiment/experiment_check.h"

#include <algorithm>
#include <set>

#include "core/base/nearest.h"
#include "core/base/units_text.h"
#include "core/strategies/strategy.h"

namespace weir {
namespace {

constexpr std::string_view kAll = "all";
constexpr Bytes kSmallestPart{1000};  // below that a model falls into millions of messages
constexpr std::int64_t kMostCredit = 1'000'000'000;

class Check {
 public:
  Check(ExperimentText& text, const Value& document, Complaints& complaints)
      : text_(text), experiment_(text.experiment), document_(document), complaints_(complaints) {}

  void run() {
    experiment_.strategies = expanded("strategies", experiment_.strategies);
    experiment_.timelines = expanded("timelines", experiment_.timelines);
    if (experiment_.strategies.empty()) complain("strategies", "there is none; try [\"all\"]");
    check_name("baseline", experiment_.baseline);
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
      } else if (check_name(joined(path, i), names[i])) {
        add(names[i]);
      }
    }
    return result;
  }

  void check_size(const std::string& path, Bytes size) {
    if (size >= kSmallestPart) return;
    complain(path, fmt::format("{} is too small; at least {}", weir::text(size), weir::text(kSmallestPart)));
  }

  void check_credit() {
    const Value& credit = text_.credit;
    const bool number = credit.is(Value::Kind::kInteger);
    if (number && credit.as_integer() >= 1 && credit.as_integer() <= kMostCredit) {
      experiment_.options.credit = static_cast<int>(credit.as_integer());
    } else if (credit.is(Value::Kind::kString) && credit.as_string() == kUnlimitedCredit) {
      experiment_.options.credit = std::nullopt;
    } else {
      complain("credit", fmt::format("expected an integer of at least 1, or '{}', not {}", kUnlimitedCredit,
                                     description(credit)));
    }
  }

  void check_seeds() {
    const std::vector<std::uint64_t>& seeds = experiment_.seeds;
    if (seeds.empty()) complain("seeds", "there is none; try [1]");
    std::set<std::uint64_t> seen;
    for (std::size_t i = 0; i < seeds.size(); ++i) {
      if (seen.insert(seeds[i]).second) continue;
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
};

}  // namespace

void check_experiment(ExperimentText& text, const Value& document, Complaints& complaints) {
  Check(text, document, complaints).run();
}

}  // namespace weir
