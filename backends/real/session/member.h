// A process's part in a training session, whether it trains or only sums: its seat, its groups of tensors,
// and notes from the leader. The protocol is in core/protocol/session_follower.h. This is its driver, which
// has the socket, the clock and the groups.
#pragma once

#include <map>
#include <memory>

#include "backends/real/session/group.h"
#include "backends/real/session/settings.h"
#include "core/protocol/session_follower.h"
#include "core/protocol/silence.h"

namespace weir::real {

/// How a member's owner reacts to the leader. Called in the owner's thread unless stated otherwise.
class MemberEvents {
 public:
  MemberEvents() = default;
  MemberEvents(const MemberEvents&) = delete;
  MemberEvents& operator=(const MemberEvents&) = delete;
  virtual ~MemberEvents() = default;

  /// The group's tensors can now be handed over. They are in the group's order.
  virtual void begun(Group& /*group*/, const std::vector<TensorNote>& /*tensors*/) {}
  /// A transfer's sum has arrived; called in the group's thread.
  virtual void done(const std::shared_ptr<Transfer>& /*transfer*/) {}
  virtual void refused(const RefuseNote& /*note*/) {}
  virtual void counted(const CountNote& /*note*/) {}
  virtual void missing(const MissingNote& /*note*/) {}
  virtual void watch(const WatchNote& /*note*/) {}
  /// The session ends: groups that have begun must not be used any more.
  virtual void ending() {}
};

/// One owner thread.
class SessionMember {
 public:
  /// Takes the seat and waits at most `patience` until all processes have theirs. Fails with the reason if it
  /// is not let in.
  static Result<std::unique_ptr<SessionMember>> join(const SessionSettings& settings,
                                                     const std::string& version, MemberEvents& events);
  SessionMember(const SessionMember&) = delete;
  SessionMember& operator=(const SessionMember&) = delete;
  ~SessionMember();

  /// Handles notes from the leader until one has come or `patience` is over. True once the leader has said
  /// goodbye. Fails when the session fails; either side has told the other why. After that, nothing touches
  /// memory of transfers.
  Result<bool> serve(Duration patience);

  template <class T>
  void say(const T& content) {
    socket_->send(note_of(content));
  }
  /// Ends the session for all. Returns what the leader considers the cause.
  Error fail(const Error& own);

 private:
  SessionMember(const SessionSettings& settings, MemberEvents& events)
      : settings_(settings), events_(events) {}
  Result<void> take_seat(const std::string& version);
  Result<SeatNote> listen_for_peers();
  /// Handles a note that comes within `patience`. If none waits to be read, checks deadlines instead. False
  /// if no note came.
  bool step(Duration patience);
  /// Called while the member connects. Fails if that work has become pointless.
  Result<void> listen();
  void carry_out(const FollowerAction& action);
  void carry_out_all();
  Result<std::size_t> make_layout(const Note& note);
  Result<OpenedNote> open(const OpenNote& note);
  Result<void> plan(const OpenNote& note, bool kept, MachineId self);
  GroupSettings group_settings(const OpenNote& note, const Cluster& cluster, const Token& token);
  void begin(int group);
  void check_groups();
  void give_up(const Error& own);
  /// Finishes the session once the protocol machine is over.
  Result<bool> finish();

  struct Opened {
    std::vector<TensorNote> tensors;
    std::shared_ptr<const Cluster> cluster;  // the cluster of its plan
    std::vector<int> ranks;                  // the ranks that take part; empty: all
    std::unique_ptr<Group> group;
  };
  /// What is being opened. For kept tensors, servers open one group for each rank, one after the other, and
  /// these groups share this.
  struct Batch {
    std::vector<TensorNote> tensors;
    std::shared_ptr<const TensorPlan> plan;
    std::shared_ptr<KeptTensors> kept;  // only on servers
  };

  const SessionSettings settings_;
  MemberEvents& events_;
  std::unique_ptr<ControlSocket> socket_;
  std::optional<SessionLayout> layout_;
  std::vector<Descriptor> listeners_;
  PeerSettings peers_;
  std::map<int, Opened> groups_;  // by number
  Batch batch_;
  std::optional<SessionFollower> machine_;  // once it listens
  bool finished_ = false;
};

/// The key with which the processes of a session recognize each other. It is derived from the session's
/// secret.
Result<FreshKey> session_key(const SessionSettings& settings);

}  // namespace weir::real
