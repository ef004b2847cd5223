// Tables for people: text columns with titles.
#pragma once

#include <string>
#include <vector>

namespace weir {

/// A value. Rows added after the widths were set may be too wide; they are still shown in full.
class Table {
 public:
  struct Column {
    enum class Side { kLeft, kRight };
    std::string title;
    Side side = Side::kRight;
    std::size_t width = 0;  // minimum width; never less than the title's
  };
  using Cells = std::vector<std::string>;

  explicit Table(std::vector<Column> columns);

  /// Widens the columns to fit the row.
  void fit(const Cells& row);

  /// The titles or a row as a line.
  std::string header() const;
  std::string line(const Cells& row) const;

 private:
  std::vector<Column> columns_;
};

/// Short titles for columns of values at paths: the last two names of each path. More names are added until
/// the title is unique and does not begin with a number. "topology.groups.cpu.count" becomes "cpu.count".
std::vector<std::string> titles(const std::vector<std::string>& paths);

/// The whole table, with columns as wide as necessary.
std::string text(std::vector<Table::Column> columns, const std::vector<Table::Cells>& rows);

}  // namespace weir
