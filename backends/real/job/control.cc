#include "backends/real/job/control.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <mutex>
#include <thread>
#include <zmq.hpp>

#include "backends/real/job/notes.h"
#include "backends/real/process/clock.h"
#include "core/protocol/silence.h"

namespace weir::real {
namespace {

constexpr int kLinger = 1000;  // how many milliseconds unsent notes may take to leave when the socket closes

// Whether to use IPv6. With IPv6 on, ZeroMQ would use IPv6 sockets and address notation for IPv4 too, which
// not all hosts know.
bool is_six(const std::string& endpoint) { return endpoint.find("://[") != std::string::npos; }

// Answers when ZeroMQ asks whether a key may connect (ZAP, RFC 27). Only the job's own key may.
class Doorman {
 public:
  Doorman(zmq::context_t& context, const std::string& member_public)
      : socket_(context, zmq::socket_type::rep) {
    std::array<std::uint8_t, 32> key{};
    zmq_z85_decode(key.data(), member_public.c_str());
    key_.assign(reinterpret_cast<const char*>(key.data()), key.size());  // NOLINT: bytes as ZeroMQ sends them
    socket_.set(zmq::sockopt::rcvtimeo, 100);
    socket_.bind("inproc://zeromq.zap.01");
    thread_ = std::thread([this] { run(); });
  }

  ~Doorman() {
    stop_ = true;
    thread_.join();
  }

 private:
  void run() {
    while (!stop_) {
      std::vector<std::string> request;
      zmq::message_t part;
      while (socket_.recv(part)) {
        request.push_back(part.to_string());
        if (!part.more()) break;
      }
      if (request.empty()) continue;
      // version, request, domain, address, identity, mechanism, credentials
      const bool welcome = request.size() == 7 && request[5] == "CURVE" && request[6] == key_;
      const std::array<std::string, 6> answer = {"1.0",
                                                 request.size() > 1 ? request[1] : "",
                                                 welcome ? "200" : "400",
                                                 welcome ? "" : "this key is not the job's",
                                                 "",
                                                 ""};
      for (std::size_t i = 0; i < answer.size(); ++i) {
        const auto more = i + 1 < answer.size() ? zmq::send_flags::sndmore : zmq::send_flags::none;
        socket_.send(zmq::buffer(answer[i]), more);
      }
    }
  }

  zmq::socket_t socket_;
  std::string key_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

// Carries notes between the wire and the owner. Only its thread may touch the wire.
class Courier {
 public:
  /// The owner's end is connected to kInner before.
  Courier(zmq::context_t& context, zmq::socket_t wire, zmq::socket_t events, bool server)
      : inner_(context, zmq::socket_type::pair),
        wire_(std::move(wire)),
        events_(std::move(events)),
        server_(server) {
    inner_.set(zmq::sockopt::sndhwm, 0);
    inner_.set(zmq::sockopt::rcvhwm, 0);
    inner_.bind(kInner);
    thread_ = std::thread([this] { run(); });
  }
  Courier(const Courier&) = delete;
  Courier& operator=(const Courier&) = delete;
  /// Call it after the owner has sent its last message.
  ~Courier() { thread_.join(); }

  static constexpr const char* kInner = "inproc://weir";

  void keep_alive(const std::string& connection) {
    const std::lock_guard lock(mutex_);
    alive_for_.push_back(connection);
  }
  void drop_unsent() { drops_ = true; }
  Duration refused() const {
    const std::int64_t since = refused_since_;
    return since == 0 ? Duration(0) : Clock::monotonic() - Instant(since);
  }

 private:
  void run() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, nullptr);  // other threads handle signals
    try {
      while (serve()) {
      }
    } catch (const zmq::error_t&) {
      // The other end then hears nothing more and takes this one for lost; so does the owner with the other
      // end.
    }
    if (drops_) wire_.set(zmq::sockopt::linger, 0);
    if (!server_) ::zmq_socket_monitor(wire_.handle(), nullptr, 0);
    wire_.close();
    events_.close();
    inner_.close();
  }

  // Waits until the next heartbeat at most. False once the owner has gone.
  bool serve() {
    const Instant now = Clock::monotonic();
    if (now - beaten_ >= kHeartbeat) {
      beat();
      beaten_ = now;
    }
    std::array<zmq::pollitem_t, 3> items = {{{inner_.handle(), 0, ZMQ_POLLIN, 0},
                                             {wire_.handle(), 0, ZMQ_POLLIN, 0},
                                             {events_.handle(), 0, ZMQ_POLLIN, 0}}};
    const auto left = (beaten_ + kHeartbeat - now).ns() / 1'000'000 + 1;
    const int files = server_ ? 2 : 3;
    if (::zmq_poll(items.data(), files, static_cast<long>(left)) <= 0) return true;
    if ((items[2].revents & ZMQ_POLLIN) != 0) look_at_event();
    if ((items[1].revents & ZMQ_POLLIN) != 0) carry(wire_, inner_);
    return (items[0].revents & ZMQ_POLLIN) == 0 || carry(inner_, wire_);
  }

  // Reads one event of the wire. It begins with the event's number.
  void look_at_event() {
    zmq::message_t frame;
    if (!events_.recv(frame, zmq::recv_flags::dontwait) || frame.size() < sizeof(std::uint16_t)) return;
    std::uint16_t event = 0;
    std::memcpy(&event, frame.data(), sizeof event);
    while (frame.more() && events_.recv(frame)) {
    }
    if (event == ZMQ_EVENT_CONNECTED) refused_since_ = 0;
    if (event == ZMQ_EVENT_CONNECT_RETRIED && refused_since_ == 0) refused_since_ = Clock::monotonic().ns();
  }

  // Carries the notes that wait, but not so many that the other direction waits for long. False at a message
  // of a single frame. That is no note but the owner's last message.
  static bool carry(zmq::socket_t& from, zmq::socket_t& into) {
    constexpr int kMost = 64;
    for (int i = 0; i < kMost; ++i) {
      zmq::message_t frame;
      if (!from.recv(frame, zmq::recv_flags::dontwait)) return true;
      if (!frame.more()) return false;
      for (bool more = true; more;) {
        more = frame.more();
        into.send(frame, more ? zmq::send_flags::sndmore : zmq::send_flags::none);
        if (more && !from.recv(frame)) return true;  // the frames of a note arrive together
      }
    }
    return true;
  }

  void beat() {
    const std::lock_guard lock(mutex_);
    const Note note = note_of(AliveNote{});
    for (const std::string& connection : alive_for_) {
      if (server_) wire_.send(zmq::buffer(connection), zmq::send_flags::sndmore);
      wire_.send(zmq::buffer(note.type), zmq::send_flags::sndmore);
      wire_.send(zmq::buffer(note.text), zmq::send_flags::sndmore);
      wire_.send(zmq::buffer(note.body), zmq::send_flags::none);
    }
  }

  zmq::socket_t inner_;
  zmq::socket_t wire_;
  zmq::socket_t events_;  // of the wire; only at a machine's end
  bool server_;
  std::atomic<std::int64_t> refused_since_ = 0;  // monotonic clock (ns); 0 if not refused
  std::atomic<bool> drops_ = false;
  Instant beaten_ = Clock::monotonic();
  std::mutex mutex_;
  std::vector<std::string> alive_for_;  // connections; a machine has one, with an empty name
  std::thread thread_;
};

}  // namespace

struct ControlSocket::Parts {
  explicit Parts(zmq::socket_type type)
      : server(type == zmq::socket_type::router),
        wire(context, type),
        socket(context, zmq::socket_type::pair) {
    wire.set(zmq::sockopt::linger, kLinger);
    wire.set(zmq::sockopt::maxmsgsize, kLargestNote.count());
    for (zmq::socket_t* each : {&wire, &socket}) {
      each->set(zmq::sockopt::sndhwm, 0);
      each->set(zmq::sockopt::rcvhwm, 0);
    }
  }

  // Makes the wire report how its attempts to connect end.
  void watch() {
    constexpr const char* kEvents = "inproc://events";
    if (::zmq_socket_monitor(wire.handle(), kEvents, ZMQ_EVENT_CONNECTED | ZMQ_EVENT_CONNECT_RETRIED) != 0)
      throw zmq::error_t();
    events = zmq::socket_t(context, zmq::socket_type::pair);
    events.connect(kEvents);
  }

  // Call it when the wire is configured.
  void begin() {
    socket.connect(Courier::kInner);
    courier = std::make_unique<Courier>(context, std::move(wire), std::move(events), server);
  }

  bool server;
  zmq::context_t context;
  std::unique_ptr<Doorman> doorman;
  zmq::socket_t wire;    // the courier's once it has begun, like `events`
  zmq::socket_t events;  // of the wire
  zmq::socket_t socket;  // the owner's end to the courier
  std::unique_ptr<Courier> courier;
};

ControlSocket::ControlSocket(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

ControlSocket::~ControlSocket() {
  try {
    parts_->socket.send(zmq::message_t(), zmq::send_flags::none);
  } catch (const zmq::error_t&) {
    // The courier has already ended.
  }
  parts_->courier.reset();
  parts_->socket.close();
  parts_->doorman.reset();
}

Result<std::unique_ptr<ControlSocket>> ControlSocket::listen(const FreshKey& key) {
  try {
    auto parts = std::make_unique<Parts>(zmq::socket_type::router);
    parts->doorman = std::make_unique<Doorman>(parts->context, key.key.member_public);
    parts->wire.set(zmq::sockopt::zap_domain, "weir");
    parts->wire.set(zmq::sockopt::curve_server, true);
    parts->wire.set(zmq::sockopt::curve_secretkey, key.server_secret);
    parts->wire.set(zmq::sockopt::ipv6, is_six(key.key.endpoint));
    parts->wire.bind(key.key.endpoint);
    const std::string endpoint = parts->wire.get(zmq::sockopt::last_endpoint);
    parts->begin();
    std::unique_ptr<ControlSocket> made(new ControlSocket(std::move(parts)));
    made->endpoint_ = endpoint;
    return made;
  } catch (const zmq::error_t& error) {
    return failure(fmt::format("the coordinator cannot listen at {}: {}", key.key.endpoint, error.what()));
  }
}

Result<std::unique_ptr<ControlSocket>> ControlSocket::join(const JobKey& key) {
  try {
    auto parts = std::make_unique<Parts>(zmq::socket_type::dealer);
    parts->wire.set(zmq::sockopt::curve_serverkey, key.server_public);
    parts->wire.set(zmq::sockopt::curve_publickey, key.member_public);
    parts->wire.set(zmq::sockopt::curve_secretkey, key.member_secret);
    parts->wire.set(zmq::sockopt::ipv6, is_six(key.endpoint));
    parts->watch();
    parts->wire.connect(key.endpoint);
    parts->begin();
    return std::unique_ptr<ControlSocket>(new ControlSocket(std::move(parts)));
  } catch (const zmq::error_t& error) {
    return failure(fmt::format("cannot reach the coordinator at {}: {}", key.endpoint, error.what()));
  }
}

void ControlSocket::keep_alive(const std::string& connection) { parts_->courier->keep_alive(connection); }

void ControlSocket::drop_unsent() { parts_->courier->drop_unsent(); }

void ControlSocket::send(const Note& note) {
  try {
    if (!note.from.empty()) parts_->socket.send(zmq::buffer(note.from), zmq::send_flags::sndmore);
    parts_->socket.send(zmq::buffer(note.type), zmq::send_flags::sndmore);
    parts_->socket.send(zmq::buffer(note.text), zmq::send_flags::sndmore);
    parts_->socket.send(zmq::buffer(note.body), zmq::send_flags::none);
  } catch (const zmq::error_t&) {
    // The other end is gone. Whoever waits for its answer will report that.
  }
}

Duration ControlSocket::refused() const { return parts_->courier->refused(); }

std::optional<Note> ControlSocket::receive(Duration patience) {
  try {
    std::array<zmq::pollitem_t, 1> items = {{{parts_->socket.handle(), 0, ZMQ_POLLIN, 0}}};
    if (zmq::poll(items, std::chrono::milliseconds(patience.ns() / 1'000'000)) == 0) return std::nullopt;
    std::vector<std::string> frames;
    zmq::message_t part;
    do {
      if (!parts_->socket.recv(part, zmq::recv_flags::dontwait)) break;
      frames.push_back(part.to_string());
    } while (part.more());
    if (frames.size() != (parts_->server ? 4U : 3U)) return std::nullopt;
    Note note;
    if (parts_->server) note.from = std::move(frames.front());
    note.type = std::move(frames[frames.size() - 3]);
    note.text = std::move(frames[frames.size() - 2]);
    note.body = std::move(frames.back());
    return note;
  } catch (const zmq::error_t&) {  // interrupted by a signal
    return std::nullopt;
  }
}

}  // namespace weir::real
