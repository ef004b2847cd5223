// Decodes notes of the control channel. Their sender has the job's key, but may be faulty. The first line of
// an input is the type of the note, the rest is its text.
#include <algorithm>
#include <string>
#include <string_view>

#include "backends/real/job/notes.h"
#include "core/base/check.h"
#include "tests/fuzz/input.h"

namespace weir::real {
namespace {

// A note that can be read can be written again and means the same. An error in it can be sent to others.
template <class T>
void check(const Note& note) {
  const auto content = content_of<T>(note);
  if (!content) {
    const auto sent = content_of<FailedNote>(note_of(FailedNote{content.error().text}));
    WEIR_CHECK(sent && !sent->text.empty(), note.type);
    return;
  }
  const Note written = note_of(*content);
  const auto again = content_of<T>(written);
  WEIR_CHECK(again, note.type, written.text);
  WEIR_CHECK(note_of(*again).text == written.text, note.type, written.text);
}

template <class... All>
void check_as(const Note& note) {
  (check<All>(note), ...);
}

}  // namespace
}  // namespace weir::real

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weir;
  using namespace weir::real;
  const std::string all(data, data + size);
  const std::size_t end = std::min(all.find('\n'), all.size());
  const Note note = {"", all.substr(0, end), all.substr(std::min(end + 1, all.size())), ""};
  check_as<JoinNote, InputsNote, PlannedNote, MeetNote, MetNote, AskClockNote, ClockNote, GoNote, AliveNote,
           RecordNote, DoneNote, GoodbyeNote, FailedNote>(note);
  return 0;
}
