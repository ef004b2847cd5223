#include "studies/sweep/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

namespace weir {
namespace {

tl::unexpected<Error> complaint_of(sqlite3* database, const std::string& name) {
  return failure(fmt::format("{}: {}", name, sqlite3_errmsg(database)));
}

}  // namespace

Statement::~Statement() { sqlite3_finalize(statement_); }

void Statement::bind(int parameter, const std::string& text) {
  sqlite3_bind_text64(statement_, parameter, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

void Statement::bind(int parameter, std::int64_t number) {
  sqlite3_bind_int64(statement_, parameter, number);
}

void Statement::bind(int parameter, double number) { sqlite3_bind_double(statement_, parameter, number); }

Result<bool> Statement::step() {
  const int status = sqlite3_step(statement_);
  if (status == SQLITE_ROW) return true;
  if (status != SQLITE_DONE) {
    auto why = complaint_of(database_, name_);
    sqlite3_reset(statement_);
    return why;
  }
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
  return false;
}

std::string Statement::text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_, column);
  if (text == nullptr) return {};
  return {reinterpret_cast<const char*>(text),
          static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_, column); }

double Statement::number(int column) const { return sqlite3_column_double(statement_, column); }

bool Statement::is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }

Result<std::unique_ptr<Database>> Database::open(const std::string& file, Mode mode,
                                                 const std::string& name) {
  const int flags = mode == Mode::kMake ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READWRITE;
  sqlite3* opened = nullptr;
  // Without locks, which shared file systems may lack: a database being made belongs to one process. (Copies
  // are read with locks, because a log needs them unless it belongs to one process.)
  const int status =
      sqlite3_open_v2(file.c_str(), &opened, flags, mode == Mode::kMake ? "unix-none" : nullptr);
  auto database = std::make_unique<Database>(opened, name);
  if (status != SQLITE_OK) return failure(fmt::format("{}: {}", name, sqlite3_errstr(status)));
  return database;
}

Database::~Database() { sqlite3_close_v2(database_); }

Result<void> Database::run(const std::string& statements) {
  if (sqlite3_exec(database_, statements.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return complaint_of(database_, name_);
}

Result<std::unique_ptr<Statement>> Database::prepare(std::string_view statement) {
  sqlite3_stmt* prepared = nullptr;
  if (sqlite3_prepare_v2(database_, statement.data(), static_cast<int>(statement.size()), &prepared,
                         nullptr) != SQLITE_OK) {
    return complaint_of(database_, name_);
  }
  return std::make_unique<Statement>(database_, name_, prepared);
}

}  // namespace weir
