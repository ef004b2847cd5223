// A hub and its members in one process and in virtual time. Notes are delayed, lost with their connection, or
// overtaken by later notes of others. One seed determines everything that happens.
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

/// One role together with its driver.
class SimulatedProcess {
 public:
  SimulatedProcess() = default;
  SimulatedProcess(const SimulatedProcess&) = delete;
  SimulatedProcess& operator=(const SimulatedProcess&) = delete;
  virtual ~SimulatedProcess() = default;

  virtual void hear(Note note, Instant now) = 0;
  /// `refused`: how long nobody has listened at the hub's address.
  virtual void tick(Instant now, Duration refused) = 0;
  virtual Instant wake() const = 0;
  virtual bool over() const = 0;
  /// Whether it handles notes and deadlines now; work may prevent that.
  virtual bool listens() const { return true; }
};

/// Identifies a process; each start of one gets a new number.
using Pid = std::size_t;

/// Behaves like a real network as far as protocols can see:
///   1. Notes of one connection arrive in order; those of different connections in any order.
///   2. A lost connection loses the notes under way. The member connects again, under another name, and
///      then sends what it has said in the meantime, as a ZeroMQ dealer does.
///   3. A stopped process does nothing, but notes for it are kept. A crashed process is gone.
///   4. A process handles all notes that have arrived before it looks at its deadlines.
class SimulatedNetwork {
 public:
  SimulatedNetwork(Random random, Duration slowest) : random_(random), slowest_(slowest) {}

  /// Adds a hub, which replaces the one before it. Only members with its key can talk to it.
  Pid add_hub(const std::string& name, int key);
  Pid add_member(const std::string& name, int key);
  /// Starts the process now.
  void start(Pid pid, std::unique_ptr<SimulatedProcess> process);

  /// Sends from a member to the hub, or from a hub to the connection that the note names.
  void send(Pid from, Note note);
  void keep_alive(Pid pid, const std::string& connection);
  /// Makes this call at that time, whatever happens to processes.
  void at(Instant when, std::function<void()> call);
  /// Makes this call in the process as soon as it runs.
  void hand(Pid pid, std::function<void()> call);

  void crash(Pid pid);
  void stop_until(Pid pid, Instant until);
  /// Breaks the member's connection; it gets another one after `time`.
  void cut(Pid pid, Duration time);
  /// A mistake that tests must find: processes look at deadlines before they handle notes.
  void judge_first() { judges_first_ = true; }

  /// Runs until nothing more happens, or until that time. Returns false if a process is still running.
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
  /// If set, called with each note that is sent: "0.012 s  gpu[0] -> coordinator: join".
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
    std::optional<Instant> wakes;  // when its next turn is due
    std::vector<std::string> beats;
    // The connection of a member.
    std::string connection;  // its name at the hub; empty if it has none
    int connections = 0;     // number of connections so far
    Pid peer = 0;            // the hub at the other end
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
