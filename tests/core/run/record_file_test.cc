// Records are read as they were written, and broken files are reported.
#include "core/run/record_file.h"

#include "tests/catch.h"
#include "tests/core/experiment/folder.h"

namespace weir {
namespace {

Record small_record() {
  Record record(2, 3);
  std::int64_t time = 0;
  for (auto& iteration : record.iterations) {
    for (OpRecord& op : iteration) {
      op = {Instant(time), Instant(time + 5), Instant(time + 4'000'000'000)};
      time += 10;
    }
  }
  return record;
}

RecordHeader small_header() {
  RecordHeader header;
  header.weir = "0.1.0";
  header.world = "the world's \"name\"";
  header.strategy = "ring";
  header.seed = 18'000'000'000'000'000'000ULL >> 1;
  header.machines = 1;
  header.ops = 2;
  header.iterations = 3;
  header.warm_up = 1;
  header.plan_hash = "0123456789abcdef";
  header.policy = "fifo";
  header.window_bytes = 4'000'000;
  header.experiment = Value::object();
  header.experiment.append("topology", Value("a"));
  return header;
}

std::string error_of(const Folder& folder, const std::string& text) {
  const auto read = read_record(folder.write("x.record", text));
  REQUIRE(!read);
  return read.error().text;
}

TEST_CASE("a record is read as it was written") {
  const Folder folder;
  const RecordHeader header = small_header();
  const std::string file = folder.write("x.record", text(header, small_record()));
  const auto read = read_record(file);
  REQUIRE(read);
  CHECK(read->record == small_record());
  for (const RecordHeader& found : {read->header, *read_record_header(file)}) {
    CHECK(found.world == header.world);
    CHECK(found.seed == header.seed);
    CHECK(found.warm_up == 1);
    CHECK(found.window_bytes == header.window_bytes);
    CHECK(found.experiment == header.experiment);
  }
}

TEST_CASE("a record has one line, then 24 bytes for each op") {
  const std::string whole = text(small_header(), small_record());
  CHECK(whole.size() - whole.find('\n') - 1 == std::size_t{2} * 3 * 24);
}

TEST_CASE("the error for a broken record names the file and what is wrong") {
  const Folder folder;
  const std::string whole = text(small_header(), small_record());
  for (const std::string& none :
       {std::string(), std::string("{}"), std::string("{\"topology\": 1}\n"), std::string(64, '\0')}) {
    const std::string error = error_of(folder, none);
    CHECK_THAT(error, has_text("x.record: is not a record of a run"));
    CHECK_THAT(error, has_text("--records"));
  }
  CHECK_THAT(error_of(folder, whole.substr(0, whole.size() - 1)), has_text("is cut off") && has_text("144"));
  CHECK_THAT(error_of(folder, whole.substr(0, whole.find('\n'))), has_text("is cut off"));
  CHECK_THAT(error_of(folder, whole.substr(0, 40)), has_text("x.record:1"));
  CHECK_THAT(error_of(folder, whole + "more"), has_text("is too long"));
  std::string other = whole;
  other.replace(other.find("\"weir_record\":1"), 15, "\"weir_record\":7");
  CHECK_THAT(error_of(folder, other), has_text("format 7, but this program reads format 1"));
  other = whole;
  other.replace(other.find("\"ops\":2"), 7, "\"ops\":9000000000000000000");
  CHECK_THAT(error_of(folder, other), has_text("is cut off"));
  other = whole;
  other.replace(other.find("\"warm_up\":1"), 11, "\"warm_up\":3");
  CHECK_THAT(error_of(folder, other), has_text("warm_up") && has_text("none to measure"));
  other = whole;
  other[whole.find('\n') + 8] = '\x7f';
  other[whole.find('\n') + 24 + 24] = '\x7f';  // the completion of the second op
  CHECK_THAT(error_of(folder, other), has_text("is damaged: op 0 of iteration 0"));
  CHECK_THAT(read_record(folder.path() + "/none").error().text, has_text("none"));
}

}  // namespace
}  // namespace weir
