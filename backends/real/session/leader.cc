#include "backends/real/session/leader.h"

#include <algorithm>

#include "backends/real/job/host.h"
#include "backends/real/process/clock.h"

namespace weir::real {
namespace {

constexpr Duration kLeaderSlice{20'000'000};  // how often the thread checks whether the owner wants to stop

}  // namespace

Leader::Leader(std::unique_ptr<ControlSocket> socket, SessionLayout layout, const LeaderSettings& settings)
    : socket_(std::move(socket)), layout_(std::move(layout)), settings_(settings) {
  thread_ = std::thread([this] { run(); });
}

Leader::~Leader() {
  stop_ = true;
  thread_.join();
}

LeaderTerms Leader::terms() const {
  LeaderTerms terms;
  for (std::size_t i = 0; i < layout_.cluster().machines().size(); ++i)
    terms.roles.push_back(layout_.role(MachineId(i)));
  terms.version = settings_.version;
  terms.patience = settings_.patience;
  terms.warn_after = settings_.warn_after;
  terms.token = []() -> Result<std::string> {
    const auto token = make_token();
    if (!token) return tl::unexpected(token.error());
    return hexadecimal(*token);
  };
  return terms;
}

void Leader::run() {
  SessionLeader machine(terms(), Clock::monotonic());
  while (true) {
    const std::vector<LeaderAction> actions = machine.actions();
    for (const LeaderAction& action : actions) carry_out(action, machine);
    if (!actions.empty()) continue;  // a welcome may lead to more actions
    if (machine.over()) return;
    if (stop_) {
      machine.stop(Clock::monotonic());
    } else {
      step(machine);
    }
  }
}

void Leader::step(SessionLeader& machine) {
  const Duration patience = std::max(machine.wake() - Clock::monotonic(), Duration(0));
  // Checks deadlines only when no note waits, however many the others send.
  const auto note = socket_->receive(std::min(patience, kLeaderSlice));
  const Instant now = Clock::monotonic();
  if (note) {
    machine.hear(*note, now);
  } else if (now >= machine.wake()) {
    machine.tick(now);
  }
}

void Leader::carry_out(const LeaderAction& action, SessionLeader& machine) {
  if (const auto* const to_send = std::get_if<SendNote>(&action)) socket_->send(to_send->note);
  if (const auto* const alive = std::get_if<KeepAlive>(&action)) socket_->keep_alive(alive->connection);
  if (const auto* const warning = std::get_if<WarnUser>(&action)) fmt::print(stderr, "{}\n", warning->text);
  if (const auto* const seated = std::get_if<AllSeated>(&action)) {
    WelcomeNote welcome = layout_.welcome();
    welcome.machines = seated->places;
    welcome.transport = settings_.transport;
    welcome.encrypt = settings_.encrypt;
    machine.welcome(note_of(welcome));
  }
}

}  // namespace weir::real
