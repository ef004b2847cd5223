// Messages over TCP: threads that move the bytes of all channels of a node.
#pragma once

#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "backends/real/tcp_channel.h"
#include "backends/real/transport.h"
#include "backends/real/wake.h"

namespace weir::real {

struct TcpSettings {
  int threads = 1;                  // that move bytes; each has its share of the channels
  Duration silence{4'000'000'000};  // after which a peer that says nothing is taken for dead
};

/// Each channel belongs to one thread. A message has its channel by its number, so that both ends know which.
/// All that the constructor is given outlives the transport, but the channels, which it takes.
class TcpTransport final : public Transport {
 public:
  TcpTransport(std::vector<Channel> channels, const TcpSettings& settings, const Plan& plan, MachineId self,
               const Buffers& buffers, Inbox& inbox);
  /// Ends the threads and closes the connections. Nothing may be under way with any peer then, or its bytes
  /// are lost.
  ~TcpTransport() override;

  void expect(const Op& receive, std::uint64_t round) override;
  void start(const Op& send, std::uint64_t round) override;

 private:
  struct Command {
    std::size_t channel;
    const Op* op;
    std::uint64_t round;
  };
  class Loop;

  void put(const Op& op, std::uint64_t round);

  TcpShared shared_;
  std::vector<std::unique_ptr<TcpChannel>> channels_;
  std::vector<std::vector<std::size_t>> with_peer_;  // by machine: its channels
  std::vector<std::size_t> loop_of_;                 // by channel
  std::vector<std::unique_ptr<Loop>> loops_;
};

}  // namespace weir::real
