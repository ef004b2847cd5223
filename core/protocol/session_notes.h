// What the processes of a training session say to each other, besides what jobs say too (job_notes.h). The
// leader is a thread of rank 0's process; ranks and servers are its members.
//
//   member                      leader
//   seat      ------------->                     which it is, its version, where it listens
//             <-------------    welcome          once all are seated: the cluster and all places
//   declare   ------------->                     from ranks: tensors that they know
//             <-------------    open             tensors that all their ranks know, to plan together; sent
//                                                to these ranks and the servers only (for kept tensors, once
//                                                for each rank)
//   opened    ------------->                     it has planned them and is connected to its peers
//             <-------------    begin            once all have: their rounds may begin
//   leave     ------------->                     from ranks: nothing of theirs is under way
//             <-------------    goodbye          once all ranks have left
//
// In between, at any time:
//   refuse    <------------>                     ranks disagree about a tensor: nobody uses it any more
//   ask       ------------->                     a rank has long waited for a tensor: who delays it?
//             <-------------    count            how often has each rank handed it over?
//   counted   ------------->                     this often
//             <-------------    missing          these ranks have not, or none; no tensor: this rank left
//   rounds    ------------->                     from ranks: which tensor had which round of its label
//                                                (round_table.h)
//             <-------------    watch            report this label too
//
// All say `alive` every half second. Anyone may say `failed`, which ends the session for all.
#pragma once

#include "core/base/dtype.h"
#include "core/document/dtype_fields.h"
#include "core/protocol/job_notes.h"

namespace weir {

/// A process of a session.
struct Role {
  bool server = false;  // a CPU machine; else a rank
  int number = 0;
  friend bool operator==(const Role&, const Role&) = default;
};
/// "rank 2", "server 0".
std::string text(const Role& role);

/// The type of the note that describes the session; only the backend reads its content.
constexpr std::string_view kWelcome = "welcome";

struct SeatNote {
  static constexpr std::string_view kType = "seat";
  bool server = false;
  int number = 0;  // among ranks, or among servers
  std::string version;
  Place place;
};

struct TensorNote {
  std::string name;
  std::int64_t elements = 0;
  Dtype dtype = Dtype::kF32;
  std::int64_t priority = 0;  // larger is more urgent
  bool kept = false;          // kept by the servers (kept_tensors.h); else summed over ranks
  std::vector<int> ranks;     // the ranks that take part, ascending; all if empty
  std::string kind;           // what the user makes of the sum, or copies; in words
  std::int64_t bytes = -1;    // bytes that the user copies; -1 if it is a sum
  friend bool operator==(const TensorNote&, const TensorNote&) = default;
};

/// "10 elements of f32".
std::string text(const TensorNote& tensor);

/// Whether both are the same tensor, whatever their priorities.
inline bool alike(const TensorNote& a, const TensorNote& b) {
  return a.elements == b.elements && a.dtype == b.dtype && a.kept == b.kept && a.ranks == b.ranks &&
         a.kind == b.kind && a.bytes == b.bytes;
}

/// Whether these are valid ranks of a tensor: some of the session's in ascending order, or none, which means
/// all.
bool are_ranks(const std::vector<int>& ranks, std::size_t count);
/// Whether a process takes part in tensors of these ranks; servers take part in all.
bool takes_part(const Role& role, const std::vector<int>& ranks);

struct DeclareNote {
  static constexpr std::string_view kType = "declare";
  std::vector<TensorNote> tensors;
};

struct OpenNote {
  static constexpr std::string_view kType = "open";
  int group = 0;
  std::vector<int> ranks;  // besides the servers, as in a tensor; one rank if the tensors are kept
  std::string token;       // of its connections, hexadecimal
  std::vector<TensorNote> tensors;
};

struct OpenedNote {
  static constexpr std::string_view kType = "opened";
  int group = 0;
  std::string hash;  // of the plan
};

struct BeginNote {
  static constexpr std::string_view kType = "begin";
  int group = 0;
};

struct RefuseNote {
  static constexpr std::string_view kType = "refuse";
  std::string name;
  std::string why;
};

struct AskNote {
  static constexpr std::string_view kType = "ask";
  std::string name;
};

struct CountNote {
  static constexpr std::string_view kType = "count";
  std::string name;
};

struct CountedNote {
  static constexpr std::string_view kType = "counted";
  std::string name;
  std::int64_t times = 0;
};

struct MissingNote {
  static constexpr std::string_view kType = "missing";
  std::string name;
  std::string who;    // in words; empty if nobody
  bool left = false;  // whether it has left and will not return
};

struct RoundNote {
  std::string label;
  std::int64_t round = 0;
  std::string tensor;  // its name
  std::string what;    // in words
};

struct RoundsNote {
  static constexpr std::string_view kType = "rounds";
  std::vector<RoundNote> rounds;
};

struct WatchNote {
  static constexpr std::string_view kType = "watch";
  std::string label;
  std::int64_t round = 0;
};

struct LeaveNote {
  static constexpr std::string_view kType = "leave";
  std::vector<CountedNote> given;  // every tensor that it handed over
};

template <class Visitor>
void fields(Visitor& visitor, SeatNote& note) {
  visitor.required("server", note.server, "whether it only sums");
  visitor.required("number", note.number, "which of them", within(0, 1'000'000));
  visitor.required("version", note.version, "of its program");
  visitor.required("place", note.place, "where it is found");
}

template <class Visitor>
void fields(Visitor& visitor, TensorNote& tensor) {
  visitor.required("name", tensor.name, "its name");
  visitor.required("elements", tensor.elements, "how many", at_least(0));
  visitor.required("dtype", tensor.dtype, "of what type");
  visitor.required("priority", tensor.priority, "larger is more urgent");
  visitor.required("kept", tensor.kept, "whether servers keep it");
  visitor.required("ranks", tensor.ranks, "that sum it; all if none is listed", at_least(0));
  visitor.required("kind", tensor.kind, "what its user does with it");
  visitor.required("bytes", tensor.bytes, "that its user copies; -1: none", at_least(-1));
}

template <class Visitor>
void fields(Visitor& visitor, DeclareNote& note) {
  visitor.required("tensors", note.tensors, "what to sum, or keep");
}

template <class Visitor>
void fields(Visitor& visitor, OpenNote& note) {
  visitor.required("group", note.group, "its number", at_least(0));
  visitor.required("ranks", note.ranks, "that take part; all if none is listed", at_least(0));
  visitor.required("token", note.token, "of its connections");
  visitor.required("tensors", note.tensors, "what to sum, or keep");
}

template <class Visitor>
void fields(Visitor& visitor, OpenedNote& note) {
  visitor.required("group", note.group, "its number", at_least(0));
  visitor.required("hash", note.hash, "of the plan");
}

template <class Visitor>
void fields(Visitor& visitor, BeginNote& note) {
  visitor.required("group", note.group, "its number", at_least(0));
}

template <class Visitor>
void fields(Visitor& visitor, RefuseNote& note) {
  visitor.required("name", note.name, "of the tensor");
  visitor.required("why", note.why, "what is wrong with it");
}

template <class Visitor>
void fields(Visitor& visitor, AskNote& note) {
  visitor.required("name", note.name, "of the tensor");
}

template <class Visitor>
void fields(Visitor& visitor, CountNote& note) {
  visitor.required("name", note.name, "of the tensor");
}

template <class Visitor>
void fields(Visitor& visitor, CountedNote& note) {
  visitor.required("name", note.name, "of the tensor");
  visitor.required("times", note.times, "that it was handed over", at_least(0));
}

template <class Visitor>
void fields(Visitor& visitor, MissingNote& note) {
  visitor.required("name", note.name, "of the tensor");
  visitor.required("who", note.who, "has not handed it over");
  visitor.required("left", note.left, "whether it has left");
}

template <class Visitor>
void fields(Visitor& visitor, RoundNote& note) {
  visitor.required("label", note.label, "the name that a user gives; empty if none");
  visitor.required("round", note.round, "which of the label", at_least(0));
  visitor.required("tensor", note.tensor, "its name");
  visitor.required("what", note.what, "that is, in words");
}

template <class Visitor>
void fields(Visitor& visitor, RoundsNote& note) {
  visitor.required("rounds", note.rounds, "of tensors that were handed over");
}

template <class Visitor>
void fields(Visitor& visitor, WatchNote& note) {
  visitor.required("label", note.label, "the name that a user gives");
  visitor.required("round", note.round, "the first round to report", at_least(0));
}

template <class Visitor>
void fields(Visitor& visitor, LeaveNote& note) {
  visitor.required("given", note.given, "how often it has handed over what");
}

}  // namespace weir
