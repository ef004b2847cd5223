#include "studies/output/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/base/check.h"

namespace weir {

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
  for (Column& column : columns_) column.width = std::max(column.width, column.title.size());
}

void Table::fit(const Cells& row) {
  WEIR_CHECK(row.size() == columns_.size(), row.size(), columns_.size());
  for (std::size_t i = 0; i < row.size(); ++i) columns_[i].width = std::max(columns_[i].width, row[i].size());
}

std::string Table::header() const {
  Cells titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  return line(titles);
}

std::string Table::line(const Cells& row) const {
  WEIR_CHECK(row.size() == columns_.size(), row.size(), columns_.size());
  std::string line;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0) line += "  ";
    const bool left = columns_[i].side == Column::Side::kLeft;
    line += left ? fmt::format("{:<{}}", row[i], columns_[i].width)
                 : fmt::format("{:>{}}", row[i], columns_[i].width);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::vector<std::string> titles(const std::vector<std::string>& paths) {
  std::vector<std::string> titles;
  for (const std::string& path : paths) {
    const auto clear = [&](std::size_t at) {
      const std::string title = "." + path.substr(at);
      const auto is_so = [&](const std::string& other) { return ("." + other).ends_with(title); };
      return std::isdigit(static_cast<unsigned char>(path[at])) == 0 &&
             std::count_if(paths.begin(), paths.end(), is_so) == 1;
    };
    const auto before = [&](std::size_t at) {  // where the preceding name begins
      const std::size_t dot = at < 2 ? path.npos : path.rfind('.', at - 2);
      return dot == path.npos ? 0 : dot + 1;
    };
    std::size_t at = before(before(path.size() + 1));
    while (at > 0 && !clear(at)) at = before(at);
    titles.push_back(path.substr(at));
  }
  return titles;
}

std::string text(std::vector<Table::Column> columns, const std::vector<Table::Cells>& rows) {
  Table table(std::move(columns));
  for (const Table::Cells& row : rows) table.fit(row);
  std::string text = table.header();
  for (const Table::Cells& row : rows) text += table.line(row);
  return text;
}

}  // namespace weir
