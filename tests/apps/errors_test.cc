// Errors of studies as the command line shows them.
#include "apps/weir/text/errors.h"

#include "tests/catch.h"

namespace weir {
namespace {

TEST_CASE("an error names the option of the setting that it begins with") {
  constexpr SettingOption kOptions[] = {{"over", "--over"}, {"counts", "--cpu-machines"}};
  const auto shown = [&](const std::string& text) { return with_options(Error{text}, kOptions).text; };
  CHECK(shown("over: credit: it is listed twice") == "--over: credit: it is listed twice");
  CHECK(shown("over credit: expected an integer") == "--over credit: expected an integer");
  CHECK(shown("counts: '3..1' is wrong\ncounts: so is '5'\nmine.json:3: over: no") ==
        "--cpu-machines: '3..1' is wrong\n--cpu-machines: so is '5'\nmine.json:3: over: no");
  CHECK(shown("overlap: expected true or false") == "overlap: expected true or false");
  CHECK(shown("").empty());
}

}  // namespace
}  // namespace weir
