// Line charts and bars as SVG within an HTML page: no script, no file beside it.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace weir {

/// The text with what HTML and SVG take for their own escaped.
std::string escaped(const std::string& text);
/// The path of a file as the address of a link, within quotes.
std::string link(const std::string& path);

/// A colour of its own for each strategy: that of its look, where it has one; the same in all charts.
std::string color_of(const std::string& strategy, const std::vector<std::string>& strategies);

struct ChartPoint {
  double x = 0;
  double y = 0;
  std::string about;  // shown when pointed at
};

struct ChartLine {
  std::string color;
  std::vector<ChartPoint> points;  // joined in this order
  std::vector<ChartPoint> cloud;   // pale, behind the line
};

using Words = std::function<std::string(double number)>;

struct ChartScale {
  std::string title;
  bool logarithmic = false;             // all numbers are above 0
  std::vector<std::string> categories;  // if not empty, x counts these from 0
  Words words;                          // a number as its ticks show it
};

/// What no number stands in is left out; empty without any point.
std::string line_chart(const ChartScale& x, const ChartScale& y, const std::vector<ChartLine>& lines);

/// One bar in so many parts of a whole.
struct BarPart {
  double part = 0;  // of 1
  std::string color;
  std::string about;
};
std::string bar(const std::vector<BarPart>& parts);

/// From least over middle to most, on a common scale from 0 to `end`, with a line at `mark`.
std::string whisker(double least, double middle, double most, double mark, double end,
                    const std::string& color);

}  // namespace weir
