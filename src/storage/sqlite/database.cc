#include "storage/sqlite/database.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/assert.h"

namespace qq::storage {
namespace {

Error cannot_open(const std::string& path, std::string_view why) {
  return Error::gateway(ErrorKind::Config, fmt::format("cannot open {}: {}", path, why));
}

// SQLite would make it readable for all that the umask lets in. Its -wal and -shm get the same mode.
Result<> make_private_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) {
    const int error = errno;
    std::string why = std::generic_category().message(error);
    if (error == ENOENT) why += " (its folder must exist)";
    return fail(cannot_open(path, why));
  }
  ::close(fd);
  return {};
}

Error failed(sqlite3* connection, int code) {
  const auto named = [&](ErrorKind kind, std::string_view what) {
    const char* const file = sqlite3_db_filename(connection, "main");
    return Error::gateway(
        kind, fmt::format("{} {}: {}", file == nullptr ? "" : file, what, sqlite3_errmsg(connection)));
  };
  switch (code & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return named(ErrorKind::Saturated, "is held by another process");
    case SQLITE_FULL: return named(ErrorKind::Saturated, "cannot grow");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return named(ErrorKind::Internal, "is damaged");
    case SQLITE_READONLY: return named(ErrorKind::Internal, "cannot be written");
    default: return named(ErrorKind::Internal, "failed");
  }
}

// Turning WAL on and repairing the file after a crash give up at once where another process does the same, in
// spite of the busy timeout.
int run_patiently(sqlite3* connection, const char* sql) {
  constexpr std::chrono::milliseconds kPause{20};
  for (auto waited = kPause * 0;; waited += kPause) {
    const int code = sqlite3_exec(connection, sql, nullptr, nullptr, nullptr);
    if ((code & 0xFF) != SQLITE_BUSY || waited >= kBusyMax) return code;
    sqlite3_sleep(static_cast<int>(kPause.count()));
  }
}

}  // namespace

void Database::Close::operator()(sqlite3* handle) const noexcept {
  const int closed = sqlite3_close(handle);
  QQ_ASSERT(closed == SQLITE_OK);  // a statement is left
}

Database::Database(sqlite3* handle) noexcept : handle_(handle) {}

Result<Database> Database::open(const std::string& path) {
  QQ_CHECK(make_private_file(path));
  // "file:" at the beginning would be a URI.
  const std::string plain = path.starts_with('/') ? path : "./" + path;
  sqlite3* handle = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
  const int opened = sqlite3_open_v2(plain.c_str(), &handle, flags, nullptr);
  Database database(handle);
  if (opened != SQLITE_OK) return fail(cannot_open(path, sqlite3_errstr(opened)));
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, static_cast<int>(kBusyMax.count()));
  // auto_vacuum can be chosen before the first table only. Pages that became free go back to the system in
  // small steps (see remove_expired). The WAL is cut back to 64 MiB after a checkpoint.
  // Whether the file may be written shows at the first lock of a writer.
  constexpr const char* kSetUp =
      "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
      "PRAGMA foreign_keys = ON; PRAGMA journal_size_limit = 67108864; PRAGMA trusted_schema = OFF;"
      "BEGIN IMMEDIATE; ROLLBACK";
  if (run_patiently(handle, kSetUp) != SQLITE_OK) return fail(cannot_open(path, sqlite3_errmsg(handle)));
  return database;
}

Result<> Database::run(const char* sql) {
  const int code = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return fail(failed(handle_.get(), code));
  return {};
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* made = nullptr;
  const int code = sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &made, nullptr);
  if (code != SQLITE_OK) return fail(failed(handle_.get(), code));
  return Statement(made);
}

std::int64_t Database::last_insert_id() const noexcept {
  return sqlite3_last_insert_rowid(handle_.get());
}

std::int64_t Database::changed_rows() const noexcept {
  return sqlite3_changes64(handle_.get());
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const noexcept {
  sqlite3_finalize(statement);
}

Result<bool> Statement::step() {
  const int code = sqlite3_step(handle_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) {
    reset();
    return false;
  }
  Error error = failed(sqlite3_db_handle(handle_.get()), code);
  reset();
  return fail(std::move(error));
}

Result<> Statement::run() {
  for (;;) {
    QQ_TRY(const bool row, step());
    if (!row) return {};
  }
}

void Statement::reset() noexcept {
  sqlite3_reset(handle_.get());
}

std::int64_t Statement::integer(int column) const noexcept {
  return sqlite3_column_int64(handle_.get(), column);
}

std::string_view Statement::text(int column) const noexcept {
  const auto* const bytes = static_cast<const char*>(sqlite3_column_blob(handle_.get(), column));
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column))};
}

void Statement::bind_one(int index, std::int64_t value) noexcept {
  const int bound = sqlite3_bind_int64(handle_.get(), index, value);
  QQ_ASSERT(bound == SQLITE_OK);
}

void Statement::bind_one(int index, std::string_view value) noexcept {
  // Bytes of no text are a view of nothing, which would be NULL.
  const char* const bytes = value.empty() ? "" : value.data();
  const int bound =
      sqlite3_bind_text64(handle_.get(), index, bytes, value.size(), SQLITE_STATIC, SQLITE_UTF8);
  QQ_ASSERT(bound == SQLITE_OK);
}

Result<Transaction> Transaction::begin(Database& database) {
  QQ_CHECK(database.run("BEGIN IMMEDIATE"));
  return Transaction(database);
}

Result<Transaction> Transaction::begin_read(Database& database) {
  QQ_CHECK(database.run("BEGIN"));
  return Transaction(database);
}

Transaction::~Transaction() {
  // Some errors, a full disk for one, have rolled it back already; then this one says so, and no more.
  if (database_ != nullptr) static_cast<void>(database_->run("ROLLBACK"));
}

Result<> Transaction::commit() {
  QQ_CHECK(database_->run("COMMIT"));
  database_ = nullptr;
  return {};
}

}  // namespace qq::storage
