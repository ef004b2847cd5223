#include "studies/report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/strategies/strategy.h"

namespace weir {
namespace {

constexpr double kWidth = 560;
constexpr double kHeight = 240;
constexpr double kLeft = 66;
constexpr double kRight = 12;
constexpr double kTop = 12;
constexpr double kBottom = 46;
constexpr std::size_t kMostDots = 20;  // large dots on a line

// Numbers of one axis, and their positions in the picture.
class Span {
 public:
  Span(const ChartScale& scale, double begin, double end) : scale_(scale), begin_(begin), end_(end) {}

  void take(double number) {
    if (!std::isfinite(number) || (scale_.logarithmic && number <= 0)) return;
    least_ = std::min(least_, number);
    most_ = std::max(most_, number);
  }
  bool any() const { return least_ <= most_; }

  // Call it after adding all numbers: adds margins, and extends the range to zero if that is near.
  void settle(bool from_zero) {
    if (!scale_.categories.empty()) {
      least_ = -0.5;
      most_ = static_cast<double>(scale_.categories.size()) - 0.5;
    } else if (scale_.logarithmic) {
      least_ /= 1.1;
      most_ *= 1.1;
    } else {
      if (from_zero && least_ > 0) least_ = 0;
      const double room = least_ == most_ ? std::max(1.0, std::abs(most_)) * 0.1 : (most_ - least_) * 0.05;
      if (!from_zero) least_ -= room;
      most_ += room;
    }
  }

  double place(double number) const {
    const double part = scale_.logarithmic ? std::log(number / least_) / std::log(most_ / least_)
                                           : (number - least_) / (most_ - least_);
    return begin_ + part * (end_ - begin_);
  }

  std::vector<double> ticks() const {
    std::vector<double> found;
    if (!scale_.categories.empty()) {
      for (std::size_t i = 0; i < scale_.categories.size(); ++i) found.push_back(static_cast<double>(i));
      return found;
    }
    if (scale_.logarithmic) return log_ticks();
    constexpr double kAbout = 4;
    const double rough = (most_ - least_) / kAbout;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    const double lead = rough / power;
    const double step = power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
    for (double tick = std::ceil(least_ / step) * step; tick <= most_ + step * 1e-9; tick += step)
      found.push_back(std::abs(tick) < step * 1e-9 ? 0 : tick);
    return found;
  }

 private:
  std::vector<double> log_ticks() const {
    std::vector<double> found;
    const double decades = std::log10(most_ / least_);
    const int every = std::max(1, static_cast<int>(std::lround(decades / 5)));
    for (int power = static_cast<int>(std::floor(std::log10(least_))); std::pow(10, power) <= most_;
         ++power) {
      for (const double lead : {1.0, 2.0, 5.0}) {
        const double tick = lead * std::pow(10, power);
        const bool shown = lead == 1.0 ? power % every == 0 : decades < 2.2;
        if (shown && tick >= least_ && tick <= most_) found.push_back(tick);
      }
    }
    return found;
  }

  const ChartScale& scale_;
  double begin_;
  double end_;
  double least_ = std::numeric_limits<double>::infinity();
  double most_ = -std::numeric_limits<double>::infinity();
};

std::string shortened(const std::string& text, std::size_t most) {
  return text.size() <= most ? text : text.substr(0, most - 2) + "..";
}

std::string ticks_below(const Span& span, const ChartScale& scale) {
  std::string svg;
  constexpr double kLetter = 5.6;
  const std::vector<double> ticks = span.ticks();
  double free = 0;  // free from here on
  const double room = (kWidth - kLeft - kRight) / std::max<double>(1, static_cast<double>(ticks.size()));
  const auto letters = static_cast<std::size_t>(std::max(5.0, room / kLetter));
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    const double x = span.place(ticks[i]);
    const std::string words = scale.categories.empty() ? scale.words(ticks[i]) : scale.categories[i];
    svg += fmt::format("<line class='tick' x1='{0:.1f}' y1='{1}' x2='{0:.1f}' y2='{2}'/>", x,
                       kHeight - kBottom, kHeight - kBottom + 4);
    const double half = kLetter * static_cast<double>(std::min(words.size(), letters)) / 2;
    if (scale.categories.empty() && x - half < free) continue;
    free = x + half + kLetter;
    svg += fmt::format("<text x='{:.1f}' y='{}' text-anchor='middle'>{}<title>{}</title></text>", x,
                       kHeight - kBottom + 16,
                       escaped(scale.categories.empty() ? words : shortened(words, letters)), escaped(words));
  }
  return svg + fmt::format("<text class='title' x='{:.1f}' y='{}' text-anchor='middle'>{}</text>",
                           (kLeft + kWidth - kRight) / 2, kHeight - 8, escaped(shortened(scale.title, 80)));
}

std::string ticks_beside(const Span& span, const ChartScale& scale) {
  std::string svg;
  for (const double tick : span.ticks()) {
    const double y = span.place(tick);
    svg += fmt::format("<line class='grid' x1='{0}' y1='{2:.1f}' x2='{1}' y2='{2:.1f}'/>", kLeft,
                       kWidth - kRight, y);
    svg += fmt::format("<text x='{}' y='{:.1f}' text-anchor='end'>{}</text>", kLeft - 6, y + 3.5,
                       escaped(scale.words(tick)));
  }
  return svg;
}

}  // namespace

std::string link(const std::string& path) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
  std::string address;
  for (const char c : path) {
    if (kPlain.find(c) != std::string_view::npos) {
      address += c;
    } else {
      address += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return address;
}

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string color_of(const std::string& strategy, const std::vector<std::string>& strategies) {
  const auto known = [](const std::string& name) {
    const auto named = strategy_named(name);
    return named ? std::string((*named)->look.color) : std::string();
  };
  constexpr std::array<const char*, 8> kSpare = {"#8C510A", "#542788", "#1B7837", "#B2182B",
                                                 "#35978F", "#C51B7D", "#4D4D4D", "#7570B3"};
  if (std::string own = known(strategy); !own.empty()) return own;
  std::size_t others = 0;
  for (const std::string& name : strategies) {
    if (name == strategy) break;
    others += known(name).empty() ? 1 : 0;
  }
  return kSpare[others % kSpare.size()];
}

std::string line_chart(const ChartScale& x, const ChartScale& y, const std::vector<ChartLine>& lines) {
  Span across(x, kLeft, kWidth - kRight);
  Span up(y, kHeight - kBottom, kTop);
  for (const ChartLine& line : lines) {
    for (const auto* points : {&line.points, &line.cloud}) {
      for (const ChartPoint& point : *points) {
        across.take(point.x);
        up.take(point.y);
      }
    }
  }
  if (!across.any() || !up.any()) return {};
  across.settle(false);
  up.settle(true);
  std::string svg = fmt::format(
      "<svg class='chart' viewBox='0 0 {0} {1}' width='{0}' height='{1}' role='img'>", kWidth, kHeight);
  svg += ticks_beside(up, y) + ticks_below(across, x);
  svg += fmt::format(
      "<text class='title' transform='translate(11 {:.1f}) rotate(-90)' text-anchor='middle'>{}</text>",
      (kTop + kHeight - kBottom) / 2, escaped(y.title));
  const auto dot = [&](const ChartPoint& point, const ChartLine& line, double radius, double opacity) {
    return fmt::format(
        "<circle cx='{:.1f}' cy='{:.1f}' r='{}' fill='{}' opacity='{}'><title>{}</title></circle>",
        across.place(point.x), up.place(point.y), radius, line.color, opacity, escaped(point.about));
  };
  for (const ChartLine& line : lines)
    for (const ChartPoint& point : line.cloud) svg += dot(point, line, 1.6, 0.3);
  for (const ChartLine& line : lines) {
    std::string path;
    for (const ChartPoint& point : line.points)
      path += fmt::format("{:.1f},{:.1f} ", across.place(point.x), up.place(point.y));
    svg +=
        fmt::format("<polyline points='{}' fill='none' stroke='{}' stroke-width='1.8'/>", path, line.color);
    const double radius = line.points.size() > kMostDots ? 1.6 : 3.2;
    for (const ChartPoint& point : line.points) svg += dot(point, line, radius, 1);
  }
  return svg + "</svg>";
}

std::string bar(const std::vector<BarPart>& parts) {
  constexpr double kLength = 320;
  constexpr double kThick = 14;
  std::string svg =
      fmt::format("<svg class='bar' viewBox='0 0 {0} {1}' width='{0}' height='{1}'>", kLength, kThick);
  double begin = 0;
  for (const BarPart& part : parts) {
    svg += fmt::format("<rect x='{:.1f}' y='0' width='{:.1f}' height='{}' fill='{}'><title>{}</title></rect>",
                       begin * kLength, part.part * kLength, kThick, part.color, escaped(part.about));
    begin += part.part;
  }
  return svg + "</svg>";
}

std::string whisker(double least, double middle, double most, double mark, double end,
                    const std::string& color) {
  constexpr double kLength = 320;
  const auto at = [&](double number) { return number / end * (kLength - 8) + 4; };
  return fmt::format(
      "<svg class='bar' viewBox='0 0 {0} 14' width='{0}' height='14'>"
      "<line x1='{1:.1f}' y1='0' x2='{1:.1f}' y2='14' stroke='#999' stroke-dasharray='2 2'/>"
      "<line x1='{2:.1f}' y1='7' x2='{3:.1f}' y2='7' stroke='{5}' stroke-width='3' opacity='0.45'/>"
      "<circle cx='{4:.1f}' cy='7' r='4.5' fill='{5}'/></svg>",
      kLength, at(mark), at(least), at(most), at(middle), color);
}

}  // namespace weir
