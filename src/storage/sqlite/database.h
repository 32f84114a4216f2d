// SQLite as values and Results: a connection, prepared statements, transactions. Nothing above storage/sqlite
// names sqlite3.
//
// Threading: a connection and its statements are of one thread at a time. Every call may block on the disk,
// and on another process for kBusyMax: only at start, or on a BlockingPool.
//
// Errors: Internal where the file is damaged or cannot be read or written, Saturated where the disk is full
// or another process holds the file for longer than kBusyMax. They name the file and SQLite's reason, never a
// value: texts for the operator.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace qq::storage {

// How long to wait for another process's lock. A guess, below relay::kStoreWaitMax.
inline constexpr std::chrono::milliseconds kBusyMax{5'000};

class Statement;

class Database {
 public:
  // Opens the file, which is made (for its owner only, mode 0600) if it does not exist; its folder must. A
  // file that is no database, or may only be read, is an error (kind Config) here and not at the first use.
  //
  // WAL, so that readers and the writer do not wait for each other. synchronous=NORMAL: a commit does not
  // wait for the disk, a checkpoint does. A process that dies loses nothing; a machine that loses power may
  // lose the last commits, never older ones and never the file. For answers that a client can send again, an
  // fsync for each (FULL) is too dear; money would want it.
  static Result<Database> open(const std::string& path);

  // Its statements are gone before it is.

  // Statements without parameters and results, several with ';'.
  Result<> run(const char* sql);
  // Its text is our own and correct: a mistake in it is Internal, too.
  Result<Statement> prepare(std::string_view sql);

  [[nodiscard]] std::int64_t last_insert_id() const noexcept;
  [[nodiscard]] std::int64_t changed_rows() const noexcept;  // by the last statement

 private:
  struct Close {
    void operator()(sqlite3* handle) const noexcept;
  };
  explicit Database(sqlite3* handle) noexcept;

  std::unique_ptr<sqlite3, Close> handle_;
};

// Bind, then step until there are no more rows, then bind again:
//
//   statement.bind(owner, id);                     // texts must live until the last step
//   QQ_TRY(const bool found, statement.step());
//   if (found) statement.text(0) ...               // valid until the next step
class Statement {
 public:
  // Ends what ran before and binds the parameters from the first.
  template <typename... Values>
  void bind(const Values&... values) {
    reset();
    int index = 0;
    (bind_one(++index, values), ...);
  }
  // True: a row. False: there are no more, and the statement is reset.
  Result<bool> step();
  // Bound before: for statements without rows.
  Result<> run();
  // Lets go of what it reads: a read that is not stepped to its end holds back checkpoints until then.
  void reset() noexcept;

  [[nodiscard]] std::int64_t integer(int column) const noexcept;
  [[nodiscard]] std::string_view text(int column) const noexcept;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const noexcept;
  };
  explicit Statement(sqlite3_stmt* handle) noexcept : handle_(handle) {}
  void bind_one(int index, std::int64_t value) noexcept;
  void bind_one(int index, std::string_view value) noexcept;

  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

// BEGIN, then `commit`, or ROLLBACK at the end of the scope.
class Transaction {
 public:
  // As the only writer of the file.
  static Result<Transaction> begin(Database& database);
  // Several reads of one moment.
  static Result<Transaction> begin_read(Database& database);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  Transaction(const Transaction&) = delete;
  ~Transaction();
  Result<> commit();

 private:
  explicit Transaction(Database& database) noexcept : database_(&database) {}
  Database* database_;  // null: committed
};

}  // namespace qq::storage
