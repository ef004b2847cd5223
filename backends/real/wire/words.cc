#include "backends/real/wire/words.h"

#include <algorithm>

namespace weir::real {

void Words::say(const Frame& word) {
  const FrameBytes bytes = encode(word);
  out_.insert(out_.end(), bytes.begin(), bytes.end());
}

Result<void> Words::write() {
  while (sent_ < out_.size()) {
    const iovec rest = {out_.data() + sent_, out_.size() - sent_};
    const auto sent = connection_.send({&rest, 1});
    if (!sent) return tl::unexpected(sent.error());
    if (*sent == 0) return {};
    sent_ += *sent;
  }
  out_.clear();
  sent_ = 0;
  return connection_.flush();
}

Result<std::optional<Frame>> Words::read() {
  if (end_ - begin_ < kFrameSize) {
    std::copy(in_.data() + begin_, in_.data() + end_, in_.data());
    end_ -= begin_;
    begin_ = 0;
    const iovec room = {in_.data() + end_, in_.size() - end_};
    const auto got = connection_.receive({&room, 1});
    if (!got) return tl::unexpected(got.error());
    end_ += *got;
    if (end_ < kFrameSize) return std::optional<Frame>();
  }
  FrameBytes bytes{};
  std::copy_n(in_.data() + begin_, kFrameSize, bytes.begin());
  begin_ += kFrameSize;
  const auto word = decode(bytes);
  if (!word) return tl::unexpected(word.error());
  return std::optional<Frame>(*word);
}

}  // namespace weir::real
