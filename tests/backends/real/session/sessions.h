// Sessions whose ranks and servers are threads of the test.
#pragma once

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "backends/real/job/host.h"
#include "backends/real/session/session.h"
#include "backends/real/wire/socket.h"
#include "tests/catch.h"

namespace weir::real {

inline constexpr const char* kVersion = "test";

struct Shape {
  int ranks = 2;
  int servers = 0;
  std::string strategy = "unified";
  std::string transport = "auto";
  std::string options;
  double patience = 20;
};

class Sessions {
 public:
  explicit Sessions(Shape shape) : shape_(std::move(shape)) {
    auto listener = listen_at({"127.0.0.1", 0});
    REQUIRE(listener);
    leader_ = text(listening_at(*listener));
    *listener = Descriptor();
    secret_ = hexadecimal(*make_token());
  }

  SessionSettings settings(bool server, int number) const {
    SessionSettings settings;
    settings.role = {server, number};
    settings.size = shape_.ranks;
    settings.servers = shape_.servers;
    settings.local_size = shape_.ranks;
    settings.leader = leader_;
    settings.secret = secret_;
    settings.strategy = shape_.strategy;
    settings.options = shape_.options;
    settings.patience = shape_.patience;
    if (shape_.transport == "tcp") settings.transport = TransportChoice::kTcp;
    settings.encrypt = shape_.transport == "sealed";
    if (settings.encrypt) settings.transport = TransportChoice::kTcp;
    return settings;
  }

  // Runs each rank in a thread. Returns whether all servers ended well.
  template <class Rank>
  bool run(const Rank& rank) {
    std::vector<std::thread> threads;
    std::vector<int> ended(static_cast<std::size_t>(shape_.servers), 0);
    for (int i = 0; i < shape_.servers; ++i) {
      threads.emplace_back([&, i] {
        ended[static_cast<std::size_t>(i)] = serve_session(settings(true, i), kVersion).has_value() ? 1 : 0;
      });
    }
    std::vector<std::string> wrong(static_cast<std::size_t>(shape_.ranks));
    for (int i = 0; i < shape_.ranks; ++i) {
      threads.emplace_back([&, i] {
        auto session = Session::join(settings(false, i), kVersion);
        wrong[static_cast<std::size_t>(i)] = session ? rank(**session, i) : session.error().text;
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (std::size_t i = 0; i < wrong.size(); ++i) {
      INFO("rank " << i << ": " << wrong[i]);
      CHECK(wrong[i].empty());
    }
    return std::all_of(ended.begin(), ended.end(), [](int well) { return well == 1; });
  }

 private:
  Shape shape_;
  std::string leader_;
  std::string secret_;
};

// The error; empty if there is none.
template <class T>
std::string why(const Outcome<T>& outcome) {
  return outcome ? std::string() : outcome.error().text;
}

}  // namespace weir::real
