#include "studies/sweep/share.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "tests/catch.h"

namespace weir {
namespace {

using Variables = std::map<std::string, std::string>;

Result<Share> share(const Variables& variables, const std::string& given = "") {
  return share_of(
      [&](const std::string& name) {
        const auto found = variables.find(name);
        return found == variables.end() ? std::nullopt : std::optional(found->second);
      },
      given);
}

TEST_CASE("a process takes the share that its engine states, or all") {
  CHECK(share({}).value() == Share{0, 1});
  CHECK(share({{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "3"}}).value() == Share{2, 3});
  CHECK(share({{"PMI_RANK", "0"}, {"PMI_SIZE", "8"}}).value() == Share{0, 8});
  CHECK(share({{"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_NTASKS", "4"}}).value() ==
        Share{1, 4});
  CHECK(share({{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "3"}}, "1/5").value() == Share{0, 5});
  CHECK(text(Share{0, 5}) == "1 of 5");
}

TEST_CASE("a batch script, which has a rank but no step of its own, takes all") {
  CHECK(share({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}, {"SLURM_JOB_ID", "17"}}).value() == Share{0, 1});
}

TEST_CASE("tasks of a job array take shares in their order, and their processes parts of those") {
  const auto array = [](int id, int least, int most, int count) {
    return Variables{{"SLURM_ARRAY_TASK_ID", std::to_string(id)},
                     {"SLURM_ARRAY_TASK_MIN", std::to_string(least)},
                     {"SLURM_ARRAY_TASK_MAX", std::to_string(most)},
                     {"SLURM_ARRAY_TASK_COUNT", std::to_string(count)}};
  };
  CHECK(share(array(7, 5, 9, 5)).value() == Share{2, 5});
  CHECK(share(array(20, 10, 40, 4)).value() == Share{1, 4});
  CHECK(share(array(3, 3, 3, 1)).value() == Share{0, 1});
  CHECK(share(array(5, 1, 7, 3)).error().text.find("give each its own, such as 1/3") != std::string::npos);
  Variables both = array(7, 5, 9, 5);
  both["SLURM_PROCID"] = "1";
  both["SLURM_STEP_NUM_TASKS"] = "2";
  CHECK(share(both).value() == Share{5, 10});
}

TEST_CASE("ranks and shares that make no sense are refused") {
  CHECK_FALSE(share({{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "3"}}));
  CHECK(share({{"OMPI_COMM_WORLD_RANK", "1"}}).error().text ==
        "share: OMPI_COMM_WORLD_RANK is set, but OMPI_COMM_WORLD_SIZE is not; give the process its own, "
        "such as 1/3");
  CHECK(share({{"OMPI_COMM_WORLD_RANK", "1"}}, "2/4").value() == Share{1, 4});
  CHECK(share({{"PMI_RANK", "one"}, {"PMI_SIZE", "3"}}).error().text ==
        "PMI_RANK is 'one'; expected a number from 0 to 1000000");
  for (const char* given : {"0/3", "4/3", "1", "1/", "/2", "a/b", "-1/3"}) {
    CHECK(share({}, given).error().text ==
          fmt::format("share: '{}' is not a share; try 1/3, the first of three", given));
  }
}

TEST_CASE("shares of one count take everything once, and equally much") {
  std::vector<std::string> keys;
  for (int i = 0; i < 100; ++i) keys.push_back(std::to_string(i * 7919 % 1000));
  std::set<std::size_t> all;
  for (int index = 0; index < 7; ++index) {
    const auto own = taken({index, 7}, keys);
    CHECK((own.size() == 14 || own.size() == 15));
    for (const std::size_t i : own) CHECK(all.insert(i).second);
  }
  CHECK(all.size() == 100);
}

}  // namespace
}  // namespace weir
