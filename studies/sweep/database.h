// SQLite behind values and Results; only what results of sweeps need.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace weir {

/// One statement of a database, which outlives it. Parameters count from 1, columns from 0. A resource.
class Statement {
 public:
  Statement(sqlite3* database, const std::string& name, sqlite3_stmt* statement)
      : database_(database), name_(name), statement_(statement) {}
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement();

  void bind(int parameter, const std::string& text);
  void bind(int parameter, std::int64_t number);
  void bind(int parameter, double number);
  template <class T>
  void bind(int parameter, const std::optional<T>& value) {
    if (value) bind(parameter, *value);  // else it stays null
  }

  /// Moves to the next row; false if there is none. After the last row it starts anew, with nothing bound.
  Result<bool> step();
  std::string text(int column) const;
  std::int64_t integer(int column) const;
  double number(int column) const;
  bool is_null(int column) const;

 private:
  sqlite3* database_;
  const std::string& name_;
  sqlite3_stmt* statement_;
};

/// A resource. Only the process that opened it may use it.
class Database {
 public:
  enum class Mode { kMake, kRead };
  /// Opens a new or existing file. Errors begin with `name`: that of the file, or of the file that it is a
  /// copy of.
  static Result<std::unique_ptr<Database>> open(const std::string& file, Mode mode, const std::string& name);
  Database(sqlite3* database, std::string name) : database_(database), name_(std::move(name)) {}
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  /// Runs statements without results, separated by semicolons.
  Result<void> run(const std::string& statements);
  Result<std::unique_ptr<Statement>> prepare(std::string_view statement);

 private:
  sqlite3* database_;
  std::string name_;
};

}  // namespace weir
