// What the coordinator tells machines to run. The other notes of a job, and their order, are in
// core/protocol/job_notes.h.
#pragma once

#include "backends/real/job/control.h"
#include "backends/real/job/verify.h"
#include "backends/real/transport/transport_choice.h"
#include "core/protocol/job_notes.h"

namespace weir::real {

struct InputsNote {
  static constexpr std::string_view kType = kInputs;
  std::string experiment;  // JSON that contains topology and trace
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

template <class Visitor>
void fields(Visitor& visitor, InputsNote& note) {
  visitor.required("experiment", note.experiment, "what to run");
  visitor.required("strategy", note.strategy, "the strategy to run");
  visitor.required("iterations", note.iterations, "how many iterations to run", at_least(1));
  visitor.required("channels", note.channels, "connections with each peer", within(1, 1024));
  visitor.required("io_threads", note.io_threads,
                   "threads that move bytes; 0: as many as the host's cores allow", within(0, 1024));
  visitor.required("workers", note.workers, "threads that sum and copy", within(1, 1024));
  visitor.required("verify", note.verify, "which iterations write gradients and check sums");
  visitor.required("transport", note.transport, "what messages move through");
  visitor.required("encrypt", note.encrypt, "whether bytes between hosts are sealed");
  visitor.required("poll", note.poll, "over RDMA: how long to poll for ends of messages before waiting");
  visitor.required("pace", note.pace, "the factor of the plan's pace; 0: no pace", at_least(0));
  visitor.required("gpus", note.gpus, "whether machines use GPUs");
}

}  // namespace weir::real
