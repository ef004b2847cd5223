// The kinds of op, and their properties. A new kind is one enumerator and one row of answers. The compiler
// then names every switch that must handle it, because no switch has a default (tests/test_kinds.py).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "core/base/required.h"

namespace weir {

/// New kinds go to the end: the seeds of compute times depend on these numbers.
enum class OpKind : std::uint8_t {
  kBackward,  // computes the gradient of `layer` into `into`, a different one on every GPU
  kForward,   // reads the summed gradient of `layer` from `from`, on every GPU
  kSend,      // sends `from` as `message` to `peer`
  kReceive,   // receives `message` from `peer` into `into`
  kSum,       // into += from, element by element, in one memory
  kUpdate,    // into = the parameters after an optimizer's step with the sum in `into`, in host memory
  kCopy,      // into = from, between two memories of the machine
  kJoin,      // does nothing: it stands for all ops that it waits for, so that many ops can wait for many
  kWait,      // lets `duration` pass on the machine's scheduler, which handles one wait at a time
  kHold,      // lets `duration` pass while the machine does other things
  kReduceScatter,  // over a group of GPUs: afterwards its i-th GPU holds share i of the sum over the group
  kAllGather,      // over a group of GPUs: each starts with its share and ends with the whole
  kReduce,         // over a group of GPUs: the sum ends on GPU `root` of the group
  kBroadcast,      // over a group of GPUs: from GPU `root` of the group to each
  kAllReduce,  // over a group of GPUs of each of several machines: each ends with the sum over all of them;
               // one op a machine; the world decides how it is done
};

/// The sort of work that an op is.
enum class OpFamily : std::uint8_t {
  kCompute,     // what the model does on the GPUs, for a stated duration
  kMessage,     // one end of a message
  kMemory,      // one machine reads and writes its own memory
  kCollective,  // GPUs work together, each on its replica of `into`
  kDelay,       // only time passes, for a stated duration
  kControl,     // the node completes it without the world
};

/// What an op does with one of its slices.
enum class SliceUse : std::uint8_t {
  kNothing,  // the slice stays empty
  kReads,
  kAdds,    // adds to the bytes that are there; such ops may run in any order
  kWrites,  // in place, if it also reads
};

/// Which other ops an op waits for once it is submitted.
enum class Meets : std::uint8_t {
  kNobody,
  kOtherEnd,  // the op of the same message on the other machine
  kMachines,  // the ops of the same all-reduce on the other machines
};

/// How many ops the resource that serves an op takes at once.
enum class Serving : std::uint8_t {
  kUnserved,      // no resource serves it: it does nothing, or another op accounts for its work
  kOneByOne,      // a device: one op at a time
  kWithinWindow,  // a NIC: as many ops as fit into the bytes of its window
  kAllAtOnce,     // a timer: any number of ops
};

/// The properties of a kind.
struct KindTraits {
  Required<std::string_view> name;  // as plans print it
  Required<OpFamily> family;
  Required<SliceUse> from;
  Required<SliceUse> into;
  Required<Meets> meets;
  Required<Serving> served;
  Required<bool> adds_up;  // of collectives: whether it sums what the GPUs hold; others only spread it
  Required<bool> rooted;   // of collectives: whether one GPU, `root`, holds the whole
};

namespace op_kinds {

// None if the number is not a kind.
constexpr std::optional<KindTraits> answers(OpKind kind) {
  using enum OpFamily;
  using enum SliceUse;
  using enum Meets;
  using enum Serving;
  constexpr bool kSums = true;
  constexpr bool kNoSums = false;
  constexpr bool kRoot = true;
  constexpr bool kNoRoot = false;
  switch (kind) {
    case OpKind::kBackward:
      return KindTraits{"backward", kCompute, kNothing, kWrites, kNobody, kOneByOne, kNoSums, kNoRoot};
    case OpKind::kForward:
      return KindTraits{"forward", kCompute, kReads, kNothing, kNobody, kOneByOne, kNoSums, kNoRoot};
    case OpKind::kSend:
      return KindTraits{"send", kMessage, kReads, kNothing, kOtherEnd, kWithinWindow, kNoSums, kNoRoot};
    case OpKind::kReceive:
      return KindTraits{"receive", kMessage, kNothing, kWrites, kOtherEnd, kUnserved, kNoSums, kNoRoot};
    case OpKind::kSum:
      return KindTraits{"sum", kMemory, kReads, kAdds, kNobody, kOneByOne, kNoSums, kNoRoot};
    case OpKind::kUpdate:
      return KindTraits{"update", kMemory, kNothing, kWrites, kNobody, kOneByOne, kNoSums, kNoRoot};
    case OpKind::kCopy:
      return KindTraits{"copy", kMemory, kReads, kWrites, kNobody, kOneByOne, kNoSums, kNoRoot};
    case OpKind::kJoin:
      return KindTraits{"join", kControl, kNothing, kNothing, kNobody, kUnserved, kNoSums, kNoRoot};
    case OpKind::kWait:
      return KindTraits{"wait", kDelay, kNothing, kNothing, kNobody, kOneByOne, kNoSums, kNoRoot};
    case OpKind::kHold:
      return KindTraits{"hold", kDelay, kNothing, kNothing, kNobody, kAllAtOnce, kNoSums, kNoRoot};
    case OpKind::kReduceScatter:
      return KindTraits{"reduce-scatter", kCollective, kNothing, kWrites, kNobody, kOneByOne, kSums, kNoRoot};
    case OpKind::kAllGather:
      return KindTraits{"all-gather", kCollective, kNothing, kWrites, kNobody, kOneByOne, kNoSums, kNoRoot};
    case OpKind::kReduce:
      return KindTraits{"reduce", kCollective, kNothing, kWrites, kNobody, kOneByOne, kSums, kRoot};
    case OpKind::kBroadcast:
      return KindTraits{"broadcast", kCollective, kNothing, kWrites, kNobody, kOneByOne, kNoSums, kRoot};
    case OpKind::kAllReduce:
      return KindTraits{"all-reduce", kCollective, kNothing, kWrites, kMachines, kOneByOne, kSums, kNoRoot};
  }
  return std::nullopt;
}

constexpr std::size_t count() {
  std::size_t count = 0;
  while (answers(static_cast<OpKind>(count))) ++count;
  return count;
}

template <std::size_t... kNumbers>
constexpr std::array<KindTraits, sizeof...(kNumbers)> table(std::index_sequence<kNumbers...> /*numbers*/) {
  return {*answers(static_cast<OpKind>(kNumbers))...};
}

inline constexpr auto kTable = table(std::make_index_sequence<count()>());

}  // namespace op_kinds

constexpr const KindTraits& traits(OpKind kind) { return op_kinds::kTable[static_cast<std::size_t>(kind)]; }

/// The kind's name as plans print it: "send", "reduce-scatter", ...
constexpr std::string_view name(OpKind kind) { return traits(kind).name; }
constexpr OpFamily family(OpKind kind) { return traits(kind).family; }
constexpr Meets meets(OpKind kind) { return traits(kind).meets; }
constexpr Serving served(OpKind kind) { return traits(kind).served; }

constexpr bool is_compute(OpKind kind) { return family(kind) == OpFamily::kCompute; }
constexpr bool is_message(OpKind kind) { return family(kind) == OpFamily::kMessage; }
constexpr bool is_collective(OpKind kind) { return family(kind) == OpFamily::kCollective; }
constexpr bool is_delay(OpKind kind) { return family(kind) == OpFamily::kDelay; }
constexpr bool is_control(OpKind kind) { return family(kind) == OpFamily::kControl; }

/// Whether the plan states how long such an op takes.
constexpr bool has_duration(OpKind kind) { return is_compute(kind) || is_delay(kind); }
/// Whether it uses any resource of a cluster.
constexpr bool asks(OpKind kind) { return served(kind) != Serving::kUnserved; }
constexpr bool reads_from(OpKind kind) { return traits(kind).from != SliceUse::kNothing; }
constexpr bool writes_into(OpKind kind) { return traits(kind).into != SliceUse::kNothing; }
/// Whether it adds to the bytes that are there; such ops may run in any order.
constexpr bool adds_into(OpKind kind) { return traits(kind).into == SliceUse::kAdds; }
/// Whether it computes gradients.
constexpr bool makes_gradients(OpKind kind) { return is_compute(kind) && writes_into(kind); }
/// Whether it reads sums of gradients. An iteration ends with the last such op.
constexpr bool takes_sums(OpKind kind) { return is_compute(kind) && reads_from(kind); }
/// The word before the peer in texts; empty for a kind without a peer.
constexpr std::string_view peer_word(OpKind kind) {
  if (!is_message(kind)) return {};
  return reads_from(kind) ? "to" : "from";
}

}  // namespace weir
