#include "backends/real/transport/channel_transport.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <map>

#include "backends/real/process/clock.h"
#include "backends/real/process/wake.h"
#include "backends/real/transport/even_shares.h"
#include "backends/real/transport/wires.h"
#include "core/base/units_text.h"

namespace weir::real {

// One thread and its channels.
class ChannelTransport::Loop {
 public:
  Loop(const ChannelSettings& settings, const MoverContext& context)
      : settings_(settings),
        context_(context),
        epoll_(::epoll_create1(EPOLL_CLOEXEC)),
        wake_(make_wake()),
        timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
    WEIR_CHECK(epoll_.valid() && timer_.valid(), errno);
    watch(EPOLL_CTL_ADD, wake_.number(), EPOLLIN, kWake);
    watch(EPOLL_CTL_ADD, timer_.number(), EPOLLIN, kTimer);
  }

  ~Loop() {
    stop_ = true;
    wake(wake_);
    thread_.join();
  }

  void add(std::size_t number, Mover& mover) { seats_.push_back({number, &mover}); }

  void begin() {
    for (std::size_t i = 0; i < seats_.size(); ++i) {
      const Mover& mover = *seats_[i].mover;
      watch(EPOLL_CTL_ADD, mover.words(), EPOLLIN, 2 * i);
      if (const auto data = mover.data()) watch(EPOLL_CTL_ADD, *data, EPOLLIN, 2 * i + 1);
    }
    thread_ = std::thread([this] { run(); });
  }

  void put(const Command& command) {
    bool first = false;
    {
      const std::lock_guard lock(mutex_);
      first = commands_.empty();
      commands_.push_back(command);
    }
    if (first) wake(wake_);
  }

 private:
  static constexpr std::uint64_t kWake = ~0ULL;
  static constexpr std::uint64_t kTimer = kWake - 1;
  static constexpr int kLongest = 500;  // milliseconds, so that silence is noticed

  struct Seat {
    std::size_t number;  // of the channel
    Mover* mover;
    bool lost = false;
    bool writes_words = false;  // waits until the connection takes more; so does writes_data
    bool writes_data = false;
    // When this peer was last heard over this channel. A peer that was never heard may still be connecting to
    // others.
    std::optional<Instant> heard;
  };

  void watch(int how, int descriptor, std::uint32_t events, std::uint64_t number) {
    epoll_event event = {};
    event.events = events;
    event.data.u64 = number;
    [[maybe_unused]] const int failed = ::epoll_ctl(epoll_.number(), how, descriptor, &event);
  }

  void run() {
    std::array<epoll_event, 64> events{};
    Instant beat = Clock::monotonic();
    while (!stop_) {
      const int ready = ::epoll_wait(epoll_.number(), events.data(), static_cast<int>(events.size()),
                                     can_go_on() ? 0 : kLongest);
      for (int i = 0; i < ready; ++i) serve(events[static_cast<std::size_t>(i)]);
      obey();
      for (Seat& seat : seats_) {
        if (!seat.lost && seat.mover->can_go_on()) flush(seat);
      }
      const Instant now = Clock::monotonic();
      if (now - beat >= Duration(1'000'000'000)) {
        // A thread that was itself delayed has not yet read what has arrived, so it accuses nobody.
        if (now - beat < settings_.silence / 2) check_silence(now);
        beat = now;
      }
      release();  // last, because every flush may be held back
    }
  }

  bool can_go_on() const {
    return std::any_of(seats_.begin(), seats_.end(),
                       [](const Seat& seat) { return !seat.lost && seat.mover->can_go_on(); });
  }

  // Flushes what the pace has held back long enough, and sets the timer for the rest.
  void release() {
    std::optional<Instant> first;
    for (Seat& seat : seats_) {
      if (seat.lost || !seat.mover->held_until()) continue;
      if (*seat.mover->held_until() <= Clock::monotonic()) flush(seat);
      if (const auto until = seat.mover->held_until()) first = std::min(first.value_or(*until), *until);
    }
    if (!first || first == alarm_) return;
    alarm_ = first;
    constexpr std::int64_t kSecond = 1'000'000'000;
    itimerspec when = {};
    when.it_value.tv_sec = first->ns() / kSecond;
    when.it_value.tv_nsec = first->ns() % kSecond;
    const int set = ::timerfd_settime(timer_.number(), TFD_TIMER_ABSTIME, &when, nullptr);
    WEIR_CHECK(set == 0, errno);
  }

  void serve(const epoll_event& event) {
    if (event.data.u64 == kWake) return clear_wake(wake_);
    if (event.data.u64 == kTimer) return clear_wake(timer_);
    Seat& seat = seats_[event.data.u64 / 2];
    if (seat.lost) return;
    const bool data = event.data.u64 % 2 == 1;
    Mover& mover = *seat.mover;
    if ((event.events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) {
      seat.heard = Clock::monotonic();
      if (const auto read = data ? mover.read_data() : mover.read_words(); !read) {
        return lose(seat, read.error().text);
      }
    }
    if ((event.events & EPOLLOUT) != 0 || mover.words_wait()) flush(seat);
  }

  // Writes what the connections take, and asks epoll to report when they take more.
  void flush(Seat& seat) {
    if (seat.lost) return;
    Mover& mover = *seat.mover;
    if (const auto written = mover.write_words(); !written) return lose(seat, written.error().text);
    if (const auto written = mover.write_data(); !written) return lose(seat, written.error().text);
    const auto place = static_cast<std::uint64_t>(&seat - seats_.data());
    const auto want = [&](bool& before, bool now, int descriptor, std::uint64_t number) {
      if (before == now) return;
      before = now;
      watch(EPOLL_CTL_MOD, descriptor, EPOLLIN | (now ? EPOLLOUT : 0U), number);
    };
    want(seat.writes_words, mover.words_wait(), mover.words(), 2 * place);
    if (const auto data = mover.data()) want(seat.writes_data, mover.data_wait(), *data, 2 * place + 1);
  }

  void obey() {
    {
      const std::lock_guard lock(mutex_);
      obeyed_.swap(commands_);
    }
    for (const Command& command : obeyed_) {
      Seat& seat = seat_of(command.channel);
      if (seat.lost) continue;
      (seat.mover->*command.call)(*command.op, command.round);
    }
    for (const Command& command : obeyed_) flush(seat_of(command.channel));
    obeyed_.clear();
  }

  Seat& seat_of(std::size_t channel) {
    for (Seat& seat : seats_) {
      if (seat.number == channel) return seat;
    }
    WEIR_CHECK(false, channel);
    return seats_.front();
  }

  void check_silence(Instant now) {
    for (Seat& seat : seats_) {
      if (seat.lost) continue;
      seat.mover->say_alive();
      flush(seat);
      if (!seat.lost && seat.heard && now - *seat.heard > settings_.silence) {
        lose(seat, fmt::format("it has said nothing for {}", weir::text(settings_.silence)));
      }
    }
  }

  void lose(Seat& seat, const std::string& why) {
    seat.lost = true;
    watch(EPOLL_CTL_DEL, seat.mover->words(), 0, 0);
    if (const auto data = seat.mover->data()) watch(EPOLL_CTL_DEL, *data, 0, 0);
    Event event;
    event.kind = Event::Kind::kFailed;
    event.peer = seat.mover->peer();
    event.text = why;
    context_.inbox->put(std::move(event));
  }

  ChannelSettings settings_;
  const MoverContext& context_;
  Descriptor epoll_;
  Descriptor wake_;
  Descriptor timer_;              // wakes the thread when the pace lets messages go
  std::optional<Instant> alarm_;  // the time it was last set for
  std::atomic<bool> stop_ = false;
  std::vector<Seat> seats_;
  std::mutex mutex_;
  std::vector<Command> commands_;
  std::vector<Command> obeyed_;
  std::thread thread_;
};

ChannelTransport::ChannelTransport(std::vector<Channel> channels, const ChannelSettings& settings,
                                   const Plan& plan, MachineId self, const Buffers& buffers, Inbox& inbox)
    : pieces_(plan.messages().size()),
      context_{&plan, self, &buffers, &inbox, &pieces_, settings.poll},
      channel_of_(plan.messages().size()) {
  const auto threads = static_cast<std::size_t>(settings.threads);
  for (std::size_t i = 0; i < threads; ++i) loops_.push_back(std::make_unique<Loop>(settings, context_));
  loop_of_ = even_shares(share_out(channels), threads);
  for (Channel& channel : channels) {
    const std::size_t number = movers_.size();
    const Wire& wire = wire_of(channel);
    movers_.push_back(wire.make_mover(std::move(channel), context_));
    loops_[loop_of_[number]]->add(number, *movers_.back());
  }
  for (const auto& loop : loops_) loop->begin();
}

ChannelTransport::~ChannelTransport() = default;

std::vector<Bytes> ChannelTransport::share_out(const std::vector<Channel>& channels) {
  struct LaneChannels {
    std::vector<std::size_t> numbers;
    std::size_t sent = 0;  // messages that were assigned so far
    std::size_t received = 0;
  };
  std::map<Lane, LaneChannels> lanes;
  for (std::size_t i = 0; i < channels.size(); ++i) lanes[channels[i].lane].numbers.push_back(i);
  std::vector<Bytes> bytes(channels.size());
  const Plan& plan = *context_.plan;
  for (std::size_t m = 0; m < plan.messages().size(); ++m) {
    const MessageEnds ends = plan.messages()[m];
    for (const OpId end : {ends.send, ends.receive}) {
      if (plan.op(end).machine != context_.self) continue;
      LaneChannels& lane = lanes[lane_of(plan, plan.op(end))];
      WEIR_CHECK(!lane.numbers.empty(), end);
      const std::size_t count = lane.numbers.size();
      if (plan.op(ends.send).from.size > Pieces::kLargestWhole && count > 1 &&
          wire_of(channels[lane.numbers.front()]).traits.cuts_messages) {
        pieces_.cut(MessageId(m), static_cast<int>(count));
        channel_of_[m] = lane.numbers.front();
        for (const std::size_t channel : lane.numbers)
          bytes[channel] += plan.op(ends.send).from.size / static_cast<std::int64_t>(count);
        continue;
      }
      channel_of_[m] = lane.numbers[(end == ends.send ? lane.sent : lane.received)++ % lane.numbers.size()];
      bytes[channel_of_[m]] += plan.op(ends.send).from.size;
    }
  }
  return bytes;
}

void ChannelTransport::put(Call call, const Op& op, std::uint64_t round) {
  const std::size_t first = channel_of_[op.message.index()];
  const auto count = static_cast<std::size_t>(pieces_.count(op.message));
  for (std::size_t channel = first; channel < first + count; ++channel)
    loops_[loop_of_[channel]]->put({channel, call, &op, round});
}

void ChannelTransport::expect(const Op& receive, std::uint64_t round) { put(&Mover::expect, receive, round); }
void ChannelTransport::start(const Op& send, std::uint64_t round) { put(&Mover::start, send, round); }

}  // namespace weir::real
