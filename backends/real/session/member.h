// A process's part in a training session, whether it trains or only sums: its seat, its groups of tensors,
// and what it hears from the leader. What it says when stands in core/protocol/session_follower.h; this is
// its driver, which has the socket, the clock and the groups.
#pragma once

#include <map>
#include <memory>

#include "backends/real/session/group.h"
#include "backends/real/session/settings.h"
#include "core/protocol/session_follower.h"
#include "core/protocol/silence.h"

namespace weir::real {

/// What a member's owner does with what the leader says; called in the owner's thread.
class MemberEvents {
 public:
  MemberEvents() = default;
  MemberEvents(const MemberEvents&) = delete;
  MemberEvents& operator=(const MemberEvents&) = delete;
  virtual ~MemberEvents() = default;

  /// The group's tensors may be handed over from now on, in the order in which they stand.
  virtual void begun(Group& /*group*/, const std::vector<TensorNote>& /*tensors*/) {}
  /// A transfer's sum has arrived; called in the group's thread.
  virtual void done(const std::shared_ptr<Transfer>& /*transfer*/) {}
  virtual void refused(const RefuseNote& /*note*/) {}
  virtual void counted(const CountNote& /*note*/) {}
  virtual void missing(const MissingNote& /*note*/) {}
  virtual void watch(const WatchNote& /*note*/) {}
  /// The session ends: groups that have begun are not to be used any more.
  virtual void ending() {}
};

/// One owner thread.
class SessionMember {
 public:
  /// Takes the seat and waits until all have theirs, `patience` at most. Fails with what keeps it out.
  static Result<std::unique_ptr<SessionMember>> join(const SessionSettings& settings,
                                                     const std::string& version, MemberEvents& events);
  SessionMember(const SessionMember&) = delete;
  SessionMember& operator=(const SessionMember&) = delete;
  ~SessionMember();

  /// Handles what the leader says, for that long or until it says something. True once it has said goodbye.
  /// Fails when the session does, having told the leader or been told by it; nothing touches memory of
  /// transfers any more then.
  Result<bool> serve(Duration patience);

  template <class T>
  void say(const T& content) {
    socket_->send(note_of(content));
  }
  /// Ends the session for all; what the leader takes for the cause is returned.
  Error fail(const Error& own);

 private:
  SessionMember(const SessionSettings& settings, MemberEvents& events)
      : settings_(settings), events_(events) {}
  Result<void> take_seat(const std::string& version);
  Result<SeatNote> listen_for_peers();
  /// What comes in that time, or the deadlines if nothing lies there to be read. False if nothing came.
  bool step(Duration patience);
  /// While it connects. Fails once the work is for nothing.
  Result<void> listen();
  void carry_out(const FollowerAction& action);
  Result<std::size_t> make_world(const Note& note);
  Result<OpenedNote> open(const OpenNote& note);
  Result<void> plan(const OpenNote& note, bool kept, MachineId self);
  GroupSettings group_settings(const OpenNote& note, const Cluster& cluster, const Token& token);
  void begin(int group);
  void check_groups();
  void give_up(const Error& own);
  /// The end, once the machine is over.
  Result<bool> finish();

  struct Opened {
    std::vector<TensorNote> tensors;
    std::shared_ptr<const Cluster> cluster;  // that its plan is of
    std::vector<int> ranks;                  // that take part; all if empty
    std::unique_ptr<Group> group;
  };
  /// What is being opened: by servers, of kept tensors, in one group for each rank after the other, which
  /// share this.
  struct Batch {
    std::vector<TensorNote> tensors;
    std::shared_ptr<const TensorPlan> plan;
    std::shared_ptr<KeptTensors> kept;  // of servers
  };

  const SessionSettings settings_;
  MemberEvents& events_;
  std::unique_ptr<ControlSocket> socket_;
  std::optional<SessionLayout> world_;
  std::vector<Descriptor> listeners_;
  PeerSettings peers_;
  std::map<int, Opened> groups_;  // by number
  Batch batch_;
  std::optional<SessionFollower> machine_;  // once it listens
  bool finished_ = false;
};

/// The key by which the processes of a session, who know its secret, know each other.
Result<FreshKey> session_key(const SessionSettings& settings);

}  // namespace weir::real
