// How a session's leader describes the session. The other notes of a session, and their order, are in
// core/protocol/session_notes.h.
#pragma once

#include "backends/real/job/notes.h"
#include "core/protocol/session_notes.h"

namespace weir::real {

struct WelcomeNote {
  static constexpr std::string_view kType = kWelcome;
  std::string experiment;  // topology and options are the session's; the trace is a placeholder
  std::string strategy;
  std::vector<Place> machines;  // by number in the cluster
  TransportChoice transport = TransportChoice::kAuto;
  bool encrypt = false;
};

template <class Visitor>
void fields(Visitor& visitor, WelcomeNote& note) {
  visitor.required("experiment", note.experiment, "the cluster");
  visitor.required("strategy", note.strategy, "how to sum");
  visitor.required("machines", note.machines, "where each is found");
  visitor.required("transport", note.transport, "what messages move through");
  visitor.required("encrypt", note.encrypt, "whether bytes between hosts are sealed");
}

}  // namespace weir::real
