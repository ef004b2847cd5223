// What coordinator and machines say to each other, in this order:
//
//   machine                     coordinator
//   join      ------------->                     which machine it is, its version, where it listens
//             <-------------    inputs           once all have joined: the experiment, which everyone plans
//             alone
//   planned   ------------->                     the hash of its plan: all must be the same; and where it
//                                                listens for machines of its own host, if they share memory;
//                                                of one machine where NCCL has all GPUs meet
//             <-------------    meet             where the others listen, and the token of data connections
//   met       ------------->                     it is connected to all its peers
//             <-------------    go               when the first iteration begins
//   record    ------------->                     pieces of its part of the record, in order
//   done      ------------->                     it has sent all of them
//             <-------------    goodbye          once all are done
//
// A job that checks sums first runs once more from `meet` to `done`: so one iteration ahead of the others,
// over connections of its own.
//
// From joining on both say `alive` every half second (silence.h). Either side may say `failed` instead, with
// the reason; the coordinator passes it on to all others.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "backends/real/job/control.h"
#include "backends/real/job/verify.h"
#include "backends/real/transport/transport_choice.h"
#include "core/document/document.h"
#include "core/document/read_fields.h"
#include "core/document/write_fields.h"

namespace weir::real {

struct JoinNote {
  static constexpr std::string_view kType = "join";
  int machine = 0;
  std::string version;
  std::vector<std::string> hosts;  // for each NIC, or one for all
  std::vector<int> ports;
};

struct InputsNote {
  static constexpr std::string_view kType = "inputs";
  std::string experiment;  // JSON with topology and trace in it
  std::string strategy;
  int iterations = 1;
  int channels = 1;
  int io_threads = 1;
  int workers = 1;
  Verify verify = Verify::kNone;
  TransportChoice transport = TransportChoice::kTcp;
  bool encrypt = false;
  Duration poll;
  double pace = 0.0;
  bool gpus = false;
};

struct PlannedNote {
  static constexpr std::string_view kType = "planned";
  std::string hash;
  std::string reach;   // which machines can share memory with it: those that say the same
  std::string local;   // where it listens for them; empty if it does not
  std::string clique;  // where all machines' GPUs meet, if the plan has them and this machine is to say
};

/// Where a machine is found.
struct Place {
  std::vector<std::string> hosts;  // as of `join`
  std::vector<int> ports;
  std::string reach;  // as of `planned`
  std::string local;
};

struct MeetNote {
  static constexpr std::string_view kType = "meet";
  std::vector<Place> machines;
  std::string token;   // hexadecimal
  std::string clique;  // as of `planned`
};

struct MetNote {
  static constexpr std::string_view kType = "met";
};

struct AskClockNote {
  static constexpr std::string_view kType = "ask-clock";
};

struct ClockNote {
  static constexpr std::string_view kType = "clock";
  std::int64_t at = 0;  // on the machine's monotonic clock (ns)
};

struct GoNote {
  static constexpr std::string_view kType = "go";
  std::int64_t begin = 0;  // on the machine's monotonic clock (ns)
};

struct AliveNote {
  static constexpr std::string_view kType = "alive";
};

/// Its bytes are OpRecords in order of iteration and op, of the machine's own ops alone.
struct RecordNote {
  static constexpr std::string_view kType = "record";
  std::int64_t at = 0;  // how many bytes came before
};

struct DoneNote {
  static constexpr std::string_view kType = "done";
  std::int64_t checked = 0;               // elements whose sums were checked
  std::map<std::string, int> transports;  // with how many peers it moved messages through each
  std::map<std::string, int> on_tcp;      // lanes of its that have no RDMA though they might, by why
};

struct GoodbyeNote {
  static constexpr std::string_view kType = "goodbye";
};

struct FailedNote {
  static constexpr std::string_view kType = "failed";
  std::string text;
};

template <class Visitor>
void fields(Visitor& visitor, JoinNote& note) {
  visitor.required("machine", note.machine, "which it is");
  visitor.required("version", note.version, "of its program");
  visitor.required("hosts", note.hosts, "where it listens");
  visitor.required("ports", note.ports, "where it listens", within(1, 65535));
}

template <class Visitor>
void fields(Visitor& visitor, InputsNote& note) {
  visitor.required("experiment", note.experiment, "what to run");
  visitor.required("strategy", note.strategy, "how");
  visitor.required("iterations", note.iterations, "how often", at_least(1));
  visitor.required("channels", note.channels, "with each peer", within(1, 1024));
  visitor.required("io_threads", note.io_threads, "that move bytes; 0: as the host's cores allow",
                   within(0, 1024));
  visitor.required("workers", note.workers, "threads that sum and copy", within(1, 1024));
  visitor.required("verify", note.verify, "which iterations write gradients and check sums");
  visitor.required("transport", note.transport, "what messages move through");
  visitor.required("encrypt", note.encrypt, "whether bytes between hosts are sealed");
  visitor.required("poll", note.poll, "for ends of messages before they are waited for, over RDMA");
  visitor.required("pace", note.pace, "times the plan's pace for each peer; 0 is none", at_least(0));
  visitor.required("gpus", note.gpus, "whether machines use GPUs");
}

template <class Visitor>
void fields(Visitor& visitor, PlannedNote& note) {
  visitor.required("hash", note.hash, "of the plan");
  visitor.required("reach", note.reach, "which machines can share memory with it");
  visitor.required("local", note.local, "where it listens for them");
  visitor.required("clique", note.clique, "where all machines' GPUs meet");
}

template <class Visitor>
void fields(Visitor& visitor, Place& place) {
  visitor.required("hosts", place.hosts, "where it listens");
  visitor.required("ports", place.ports, "where it listens", within(1, 65535));
  visitor.required("reach", place.reach, "which machines can share memory with it");
  visitor.required("local", place.local, "where it listens for them");
}

template <class Visitor>
void fields(Visitor& visitor, MeetNote& note) {
  visitor.required("machines", note.machines, "where each is found");
  visitor.required("token", note.token, "of data connections");
  visitor.required("clique", note.clique, "where all machines' GPUs meet");
}

template <class Visitor>
void fields(Visitor& visitor, GoNote& note) {
  visitor.required("begin", note.begin, "on the machine's monotonic clock", at_least(0));
}

template <class Visitor>
void fields(Visitor& visitor, ClockNote& note) {
  visitor.required("at", note.at, "on the machine's monotonic clock", at_least(0));
}

template <class Visitor>
void fields(Visitor& visitor, RecordNote& note) {
  visitor.required("at", note.at, "bytes before", at_least(0));
}

template <class Visitor>
void fields(Visitor& visitor, DoneNote& note) {
  visitor.required("checked", note.checked, "elements", at_least(0));
  visitor.required("transports", note.transports, "peers of each", at_least(0));
  visitor.required("on_tcp", note.on_tcp, "lanes without RDMA, by why", at_least(0));
}

template <class Visitor>
void fields(Visitor& visitor, FailedNote& note) {
  visitor.required("text", note.text, "why");
}

template <class Visitor>
void fields(Visitor& /*visitor*/, MetNote& /*note*/) {}
template <class Visitor>
void fields(Visitor& /*visitor*/, AskClockNote& /*note*/) {}
template <class Visitor>
void fields(Visitor& /*visitor*/, AliveNote& /*note*/) {}
template <class Visitor>
void fields(Visitor& /*visitor*/, GoodbyeNote& /*note*/) {}

/// To the connection `from`; a machine's end has but one, and leaves it empty.
template <class T>
Note note_of(const T& content, std::string from = {}, std::string body = {}) {
  // A text may quote what another machine sent, whatever bytes these are.
  return {std::move(from), std::string(T::kType), json_text(write_fields(content)), std::move(body)};
}

/// What the note says, if it is of that type and well-formed.
template <class T>
Result<T> content_of(const Note& note) {
  if (note.type != T::kType) {
    return failure(fmt::format("expected '{}', and '{}' came", T::kType, note.type.substr(0, 20)));
  }
  const auto document = parse_document(note.text, note.type);
  if (!document) return tl::unexpected(document.error());
  return read_fields<T>(*document);
}

/// Why, as a `failed` note tells.
inline std::string reason_in(const Note& note) {
  const auto why = content_of<FailedNote>(note);
  return why ? why->text : why.error().text;
}

}  // namespace weir::real
