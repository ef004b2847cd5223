#include "apps/weir/text/sweep_text.h"

#include "apps/weir/text/errors.h"
#include "apps/weir/text/output.h"
#include "core/base/units_text.h"

namespace weir {

void introduce_share(const SweepSettings& settings, const Design& design, std::size_t left) {
  print_error("weir sweep: share {}: {} points, {} runs; computes {} of them, into {}\n",
              text(settings.share), design.study.points.size(), design.keys.size(), left, settings.folder);
}

ExitStatus conclude_share(const Share& share, const ShareResult& result) {
  if (result.signal) {
    print_error("weir sweep: share {} interrupted: {} of {} runs are done; the same command does the rest\n",
                text(share), result.ended, result.left);
    return 128 + *result.signal;
  }
  if (result.failed == 0) return kExitWell;
  print_error("weir sweep: {} {} of share {} failed; --status counts them, --retry computes them again\n",
              result.failed, result.failed == 1 ? "run" : "runs", text(share));
  // Job launchers end all processes as soon as one ends with a status other than 0, so a share always returns
  // 0.
  return share == Share{} ? kExitFailed : kExitWell;
}

ExitStatus show_status(const SweepStatus& status) {
  print("{}: {} points, {} runs\n", status.file, status.points, status.count() + status.left);
  for (const auto& named : enum_names(StoredResult::Status{})) {
    const auto found = status.ended.find(named.value);
    if (found != status.ended.end()) print("{:>8} {}\n", found->second, named.name);
  }
  print("{:>8} left\n", status.left);
  for (const Worker& worker : status.workers) {
    print("at work: process {} on {}, share {}, {} at once\n", worker.process, worker.host,
          text(Share{worker.share_index, worker.share_count}), worker.jobs);
  }
  if (status.to_go) {
    print("about {} to go\n", rounded(*status.to_go));
  } else if (status.left > 0 && status.workers.empty()) {
    print("nobody is at work{}\n", status.unreadable ? "" : "; the same command continues it");
  }
  if (status.strangers > 0) print("also {} results of other designs or programs\n", status.strangers);
  if (status.unreadable) return wrong("sweep", *status.unreadable);
  return kExitWell;
}

}  // namespace weir
