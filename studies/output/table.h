// Tables for people: columns of text with a title each.
#pragma once

#include <string>
#include <vector>

namespace weir {

/// A value. Rows that come later than the widths are known may be too wide; they are shown whole
/// nevertheless.
class Table {
 public:
  struct Column {
    enum class Side { kLeft, kRight };
    std::string title;
    Side side = Side::kRight;
    std::size_t width = 0;  // at least; the title's own is the least
  };
  using Cells = std::vector<std::string>;

  explicit Table(std::vector<Column> columns);

  /// Widens the columns to hold the row.
  void fit(const Cells& row);

  /// The titles, and a row, as lines.
  std::string header() const;
  std::string line(const Cells& row) const;

 private:
  std::vector<Column> columns_;
};

/// Titles for columns of values at paths: the last two names of each and as many before as make it differ
/// from the others and begin with no number. "topology.groups.cpu.count" is "cpu.count".
std::vector<std::string> titles(const std::vector<std::string>& paths);

/// The whole table, each column as wide as it must be.
std::string text(std::vector<Table::Column> columns, const std::vector<Table::Cells>& rows);

}  // namespace weir
