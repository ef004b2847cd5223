// A hub and its members in one process and in virtual time: what they send each other is late, is lost with
// its connection, or comes after what others sent later. Everything that happens follows from one seed.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/protocol/note.h"

namespace weir {

/// One role with its driver.
class SimulatedProcess {
 public:
  SimulatedProcess() = default;
  SimulatedProcess(const SimulatedProcess&) = delete;
  SimulatedProcess& operator=(const SimulatedProcess&) = delete;
  virtual ~SimulatedProcess() = default;

  virtual void hear(Note note, Instant now) = 0;
  /// `refused`: for how long nobody has listened where the hub should.
  virtual void tick(Instant now, Duration refused) = 0;
  virtual Instant wake() const = 0;
  virtual bool over() const = 0;
  /// Whether it hears notes and looks at deadlines now; work may keep it from that.
  virtual bool listens() const { return true; }
};

/// Which process: each start of one has a number of its own.
using Pid = std::size_t;

/// How a real one behaves, as far as protocols can see:
///   1. Notes of a connection come in order; those of different ones in any order.
///   2. A connection that is lost takes what is under way with it. A member connects anew, under another
///   name, and
///      says then what it has said meanwhile (as a ZeroMQ dealer does).
///   3. A process that is stopped does nothing, but what comes for it stays. One that has crashed is gone.
///   4. A process hears all that has come before it looks at its deadlines.
class SimulatedNetwork {
 public:
  SimulatedNetwork(Random random, Duration slowest) : random_(random), slowest_(slowest) {}

  /// A hub listens, in place of the one before it. Only members with its key reach it.
  Pid add_hub(const std::string& name, int key);
  Pid add_member(const std::string& name, int key);
  /// Begins now.
  void start(Pid pid, std::unique_ptr<SimulatedProcess> process);

  /// From a member to the hub, or from a hub to the connection that the note names.
  void send(Pid from, Note note);
  void keep_alive(Pid pid, const std::string& connection);
  /// Calls it then, whatever becomes of processes.
  void at(Instant when, std::function<void()> call);
  /// Has the process do something as soon as it runs.
  void hand(Pid pid, std::function<void()> call);

  void crash(Pid pid);
  void stop_until(Pid pid, Instant until);
  /// Loses the member's connection; it has another one that much later.
  void cut(Pid pid, Duration time);
  /// Only for tests that must notice it: processes look at deadlines before they hear what has come.
  void judge_first() { judges_first_ = true; }

  /// Runs until nothing happens any more, or until then. False if a process runs still.
  bool run(Instant until);

  Instant now() const { return now_; }
  Duration delay();
  Random& random() { return random_; }
  bool lives(Pid pid) const { return slots_[pid].state == State::kRunning; }
  bool crashed(Pid pid) const { return slots_[pid].state == State::kCrashed; }
  bool stopped(Pid pid) const { return now_ < slots_[pid].stopped_until; }
  const std::string& name(Pid pid) const { return slots_[pid].name; }
  /// Called when a process has ended or crashed.
  std::function<void(Pid pid)> ended;
  /// Called with each note that is sent, if anybody listens: "0.012 s  gpu[0] -> coordinator: join".
  std::function<void(const std::string& line)> log;

 private:
  enum class State { kReady, kRunning, kCrashed, kEnded };
  struct Slot {
    std::string name;
    int key = 0;
    bool hub = false;
    State state = State::kReady;
    std::unique_ptr<SimulatedProcess> process;
    Instant stopped_until;
    std::deque<Note> inbox;
    std::deque<std::function<void()>> calls;
    std::optional<Instant> wakes;  // when the next look is due
    std::vector<std::string> beats;
    // A member's connection.
    std::string connection;  // its name at the hub; empty if it has none
    int connections = 0;     // that it has had
    Pid peer = 0;            // the hub at its end
    Instant there;           // when the last note arrives, in both directions
    Instant back;
    std::deque<Note> unsent;
    std::optional<Instant> refused_since;
  };
  struct Event {
    Instant when;
    std::uint64_t number;
    std::function<void()> call;
    bool operator>(const Event& other) const {
      return when != other.when ? when > other.when : number > other.number;
    }
  };

  void connect(Pid pid);
  void disconnect(Slot& member);
  void pass_on(Pid from, Note note);
  void transmit(Pid from, Pid into, Note note);
  void beat(Pid pid);
  void serve(Pid pid);
  void look(Pid pid);
  void schedule(Pid pid);
  void end(Pid pid, State state);

  Random random_;
  Duration slowest_;
  Instant now_;
  std::uint64_t events_ = 0;
  std::vector<Event> queue_;  // a heap
  std::vector<Slot> slots_;
  std::optional<Pid> hub_;
  bool judges_first_ = false;
};

}  // namespace weir
