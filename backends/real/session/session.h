// A rank's side of a training session, as frontends see it: tensors by name, handed over and awaited.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "backends/real/session/leader.h"
#include "backends/real/session/member.h"
#include "backends/real/session/outcome.h"
#include "backends/real/session/submission_rounds.h"

namespace weir::real {

using Handle = std::int64_t;

/// Where a tensor is: in host memory, or on a device of this host. On a device, it is written once all work
/// that is on the stream (a cudaStream_t) now has ended.
struct TensorMemory {
  int device = -1;
  void* stream = nullptr;
};

/// Every function may be called from any thread. The session has its own thread that listens to the leader.
class Session final : private MemberEvents {
 public:
  /// Rank 0 also leads the session. Blocks until all processes have joined.
  static Outcome<std::unique_ptr<Session>> join(const SessionSettings& settings, const std::string& version);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  /// Ends the session for all, unless leave() has returned.
  ~Session() override;

  const SessionSettings& settings() const { return settings_; }

  Outcome<void> declare(const std::vector<TensorNote>& tensors);
  /// Begins to sum the tensor over all ranks, or over those that it was declared for. Tensors without a name
  /// are matched by order: the n-th is the same on all ranks.
  Outcome<Handle> push_pull(const TensorNote& tensor, const void* in, void* out, TensorMemory on = {});
  /// Begins to add to the tensor of that name that the servers keep, and to write the result into `weights`.
  /// Does not wait for other ranks.
  Outcome<Handle> accumulate(const TensorNote& tensor, const void* delta, void* weights,
                             TensorMemory on = {});
  /// Begins to copy bytes from the root to all others. `kind` describes the bytes in words.
  Outcome<Handle> broadcast(const std::string& name, void* data, std::int64_t bytes, int root,
                            const std::string& kind = {});
  Outcome<bool> poll(Handle handle);
  Outcome<void> wait(Handle handle);
  Outcome<void> barrier();
  Outcome<void> leave();
  void abort(const std::string& why);
  double speed();

 private:
  using Moment = std::chrono::steady_clock::time_point;
  static constexpr std::int64_t kRootWords = 2;  // words that a broadcast appends to its bytes
  struct Tensor {
    TensorNote note;
    Group* group = nullptr;                         // null until the group has begun
    std::size_t place = 0;                          // index in the group
    std::deque<std::shared_ptr<Transfer>> waiting;  // until the group has begun
    std::int64_t given = 0;                         // how often it was handed over
    std::string refused;                            // the reason if refused; else empty
  };
  struct Way {  // of a tensor from hand-over to wait()
    std::shared_ptr<Transfer> transfer;
    Moment began;
    bool done = false;
    std::vector<std::byte> copy;  // a broadcast's own memory
    std::byte* back = nullptr;    // where a broadcast's bytes go in the end
    std::size_t bytes = 0;
    int root = -1;  // only for a broadcast
  };

  explicit Session(const SessionSettings& settings) : settings_(settings) {}
  void run();
  void begun(Group& group, const std::vector<TensorNote>& tensors) override;
  void done(const std::shared_ptr<Transfer>& transfer) override;
  void refused(const RefuseNote& note) override;
  void counted(const CountNote& note) override;
  void missing(const MissingNote& note) override;
  void watch(const WatchNote& note) override;
  void ending() override;

  // Call these with the mutex held.
  Outcome<void> check_open() const;
  // Whether the tensor involves other processes.
  bool is_shared(const TensorNote& note) const {
    return note.kept || (note.ranks.empty() ? settings_.size > 1 : note.ranks.size() > 1);
  }
  Outcome<void> check(const TensorNote& note) const;
  Outcome<Tensor*> known(const TensorNote& tensor, DeclareNote& fresh);
  Outcome<Handle> give(const TensorNote& tensor, Way way);
  void refuse(const std::string& name, const std::string& why, std::unique_lock<std::mutex>& lock);
  void count_arrived(Bytes size);
  void end(SessionStatus status, const std::string& text);
  bool same_roots(const Way& way) const;
  Outcome<void> end_of(Handle handle, Way& way);

  const SessionSettings settings_;
  std::unique_ptr<Leader> leader_;
  std::unique_ptr<SessionMember> member_;  // used by the thread alone once that runs

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Tensor> tensors_;
  std::unordered_map<const Transfer*, Handle> handles_;
  std::unordered_map<Handle, Way> ways_;
  Handle next_ = 1;
  SubmissionRounds rounds_;
  std::vector<DeclareNote> to_declare_;
  std::vector<RefuseNote> to_refuse_;
  std::vector<std::string> to_ask_;
  std::map<std::string, MissingNote> missing_;           // the last answer for each tensor
  std::deque<std::pair<Moment, std::int64_t>> arrived_;  // bytes, during the last seconds
  bool somebody_left_ = false;
  bool ending_ = false;                  // groups must not be used any more
  std::optional<SessionError> ended_;    // why the session is over
  std::optional<SessionError> give_up_;  // tells the thread to end the session for this reason
  bool leave_ = false;                   // tells the thread to tell the leader
  std::thread thread_;
};

/// Runs a CPU machine of a session in the calling thread, until the session is over.
Outcome<void> serve_session(const SessionSettings& settings, const std::string& version);

}  // namespace weir::real
