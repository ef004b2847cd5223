// Line charts and bars as SVG within an HTML page, without scripts or other files.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace weir {

/// The text with the special characters of HTML and SVG escaped.
std::string escaped(const std::string& text);
/// The path of a file as a link's address, for use within quotes.
std::string link(const std::string& path);

/// A distinct colour for each strategy, the same in all charts: that of its look, if it has one.
std::string color_of(const std::string& strategy, const std::vector<std::string>& strategies);

struct ChartPoint {
  double x = 0;
  double y = 0;
  std::string about;  // shown under the pointer
};

struct ChartLine {
  std::string color;
  std::vector<ChartPoint> points;  // joined in this order
  std::vector<ChartPoint> cloud;   // pale, behind the line
};

using Words = std::function<std::string(double number)>;

struct ChartScale {
  std::string title;
  bool logarithmic = false;             // all numbers must be above 0
  std::vector<std::string> categories;  // if not empty, x is an index into these
  Words words;                          // formats a number for a tick
};

/// Leaves out points whose numbers are not finite. Empty if there are no points.
std::string line_chart(const ChartScale& x, const ChartScale& y, const std::vector<ChartLine>& lines);

/// One bar, divided into parts of a whole.
struct BarPart {
  double part = 0;  // fraction of 1
  std::string color;
  std::string about;
};
std::string bar(const std::vector<BarPart>& parts);

/// A line from least to most with a mark in the middle, on a common scale from 0 to `end`, with a reference
/// line at `mark`.
std::string whisker(double least, double middle, double most, double mark, double end,
                    const std::string& color);

}  // namespace weir
