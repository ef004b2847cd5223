#include "core/protocol/leading_end.h"

#include "tests/catch.h"

namespace weir {
namespace {

constexpr Instant kBegin(1'000'000'000'000);

TEST_CASE("an end that was never heard is not silent, and a member does not wait for its word") {
  LeadingEnd end("the coordinator", kBegin);
  CHECK_FALSE(end.heard());
  CHECK_FALSE(end.look(kBegin + kSilence * 2));
  end.await_verdict(kBegin);
  CHECK_FALSE(end.gives_no_verdict(kBegin));
  CHECK(end.gives_no_verdict(kBegin + kMoment));
}

TEST_CASE("an end that has been heard is lost after kSilence") {
  LeadingEnd end("the coordinator", kBegin);
  CHECK(end.hear(kBegin));
  CHECK_FALSE(end.hear(kBegin));
  Instant now = kBegin;
  for (; now <= kBegin + kSilence; now = end.wake()) CHECK_FALSE(end.look(now));
  const auto lost = end.look(now);
  REQUIRE(lost);
  CHECK(lost->text == "the coordinator has said nothing for 3s");
}

TEST_CASE(
    "a member waits for the verdict of an end that lives, and only a word after its failure shows that") {
  LeadingEnd end("the coordinator", kBegin);
  end.hear(kBegin);
  end.await_verdict(kBegin);
  end.hear(kBegin + Duration(1));  // had already arrived
  CHECK_FALSE(end.gives_no_verdict(kBegin + kMoment * 2));
  end.hear(kBegin + kHeartbeat);
  CHECK_FALSE(end.gives_no_verdict(kBegin + kHeartbeat));
  CHECK(end.gives_no_verdict(kBegin + kMoment));
}

}  // namespace
}  // namespace weir
