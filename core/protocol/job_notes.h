// What coordinator and machines say to each other, in this order:
//
//   machine                     coordinator
//   join      ------------->                     which machine it is, its version, where it listens
//             <-------------    inputs           once all have joined: the experiment, which each plans
//                                                by itself
//   planned   ------------->                     the hash of its plan, which must be the same for all; where
//                                                it listens for machines of its own host, if they share
//                                                memory; from one machine: where NCCL lets all GPUs meet
//             <-------------    meet             where the others listen, and the token of data connections
//   met       ------------->                     it is connected to all its peers
//             <-------------    go               when the first iteration begins
//   record    ------------->                     pieces of its part of the record, in order
//   done      ------------->                     it has sent all of them
//             <-------------    goodbye          once all are done
//
// A job that checks sums goes from `meet` to `done` twice: first for one checked iteration, over connections
// of its own, then for the recorded iterations.
//
// After joining, both sides say `alive` every half second (silence.h). Either side may say `failed` instead,
// with the reason; the coordinator passes it on to all others.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/protocol/note.h"

namespace weir {

struct JoinNote {
  static constexpr std::string_view kType = "join";
  int machine = 0;
  std::string version;
  std::vector<std::string> hosts;  // for each NIC, or one for all
  std::vector<int> ports;
};

/// The type of the note that says what to run; only the backend reads its content.
constexpr std::string_view kInputs = "inputs";

struct PlannedNote {
  static constexpr std::string_view kType = "planned";
  std::string hash;
  std::string reach;   // machines that report the same value can share memory
  std::string local;   // where it listens for them; empty if nowhere
  std::string clique;  // where all machines' GPUs meet, if the plan uses GPUs and this machine decides
};

/// Where to reach a machine.
struct Place {
  std::vector<std::string> hosts;  // as in `join`
  std::vector<int> ports;
  std::string reach;  // as in `planned`
  std::string local;
};

struct MeetNote {
  static constexpr std::string_view kType = "meet";
  std::vector<Place> machines;
  std::string token;   // hexadecimal
  std::string clique;  // as in `planned`
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

/// Its bytes are OpRecords, ordered by iteration and op, of the machine's own ops only.
struct RecordNote {
  static constexpr std::string_view kType = "record";
  std::int64_t at = 0;  // number of bytes that came before
};

struct DoneNote {
  static constexpr std::string_view kType = "done";
  std::int64_t checked = 0;               // elements whose sums were checked
  std::map<std::string, int> transports;  // by transport: the number of peers it moved messages with
  std::map<std::string, int> on_tcp;      // by reason: its lanes that fell back from RDMA to TCP
};

template <class Visitor>
void fields(Visitor& visitor, JoinNote& note) {
  visitor.required("machine", note.machine, "which it is");
  visitor.required("version", note.version, "of its program");
  visitor.required("hosts", note.hosts, "where it listens");
  visitor.required("ports", note.ports, "where it listens", within(1, 65535));
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
void fields(Visitor& /*visitor*/, MetNote& /*note*/) {}
template <class Visitor>
void fields(Visitor& /*visitor*/, AskClockNote& /*note*/) {}

}  // namespace weir
