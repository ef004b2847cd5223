#include "backends/real/job/control.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <zmq.hpp>

namespace weir::real {
namespace {

constexpr std::int64_t kLargestNote = std::int64_t{4} << 30;
constexpr int kLinger = 1000;  // milliseconds for what was sent and has not left when the socket is closed

// Answers ZeroMQ's question whether a key may connect (ZAP, RFC 27): the job's own alone may.
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

}  // namespace

struct ControlSocket::Parts {
  explicit Parts(zmq::socket_type type) : socket(context, type) {
    socket.set(zmq::sockopt::linger, kLinger);
    socket.set(zmq::sockopt::maxmsgsize, kLargestNote);
    socket.set(zmq::sockopt::sndhwm, 0);
    socket.set(zmq::sockopt::rcvhwm, 0);
  }
  zmq::context_t context;
  std::unique_ptr<Doorman> doorman;
  zmq::socket_t socket;
};

ControlSocket::ControlSocket(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

ControlSocket::~ControlSocket() {
  parts_->socket.close();
  parts_->doorman.reset();
}

Result<std::unique_ptr<ControlSocket>> ControlSocket::listen(const FreshKey& key) {
  try {
    auto parts = std::make_unique<Parts>(zmq::socket_type::router);
    parts->doorman = std::make_unique<Doorman>(parts->context, key.key.member_public);
    parts->socket.set(zmq::sockopt::zap_domain, "weir");
    parts->socket.set(zmq::sockopt::curve_server, true);
    parts->socket.set(zmq::sockopt::curve_secretkey, key.server_secret);
    parts->socket.bind(key.key.endpoint);
    std::unique_ptr<ControlSocket> made(new ControlSocket(std::move(parts)));
    made->endpoint_ = made->parts_->socket.get(zmq::sockopt::last_endpoint);
    return made;
  } catch (const zmq::error_t& error) {
    return failure(fmt::format("the coordinator cannot listen at {}: {}", key.key.endpoint, error.what()));
  }
}

Result<std::unique_ptr<ControlSocket>> ControlSocket::join(const JobKey& key) {
  try {
    auto parts = std::make_unique<Parts>(zmq::socket_type::dealer);
    parts->socket.set(zmq::sockopt::curve_serverkey, key.server_public);
    parts->socket.set(zmq::sockopt::curve_publickey, key.member_public);
    parts->socket.set(zmq::sockopt::curve_secretkey, key.member_secret);
    parts->socket.connect(key.endpoint);
    return std::unique_ptr<ControlSocket>(new ControlSocket(std::move(parts)));
  } catch (const zmq::error_t& error) {
    return failure(fmt::format("cannot reach the coordinator at {}: {}", key.endpoint, error.what()));
  }
}

void ControlSocket::send(const Note& note) {
  try {
    if (!note.from.empty()) parts_->socket.send(zmq::buffer(note.from), zmq::send_flags::sndmore);
    parts_->socket.send(zmq::buffer(note.type), zmq::send_flags::sndmore);
    parts_->socket.send(zmq::buffer(note.text), zmq::send_flags::sndmore);
    parts_->socket.send(zmq::buffer(note.body), zmq::send_flags::none);
  } catch (const zmq::error_t&) {
    // The other end is gone; whoever waits for its answer tells.
  }
}

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
    const bool server = parts_->doorman != nullptr;
    if (frames.size() != (server ? 4U : 3U)) return std::nullopt;
    Note note;
    if (server) note.from = std::move(frames.front());
    note.type = std::move(frames[frames.size() - 3]);
    note.text = std::move(frames[frames.size() - 2]);
    note.body = std::move(frames.back());
    return note;
  } catch (const zmq::error_t&) {  // interrupted by a signal
    return std::nullopt;
  }
}

}  // namespace weir::real
