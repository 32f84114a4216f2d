#include "storage/sqlite/migrations.h"

#include <fmt/format.h>

namespace qq::storage {
namespace {

Result<std::int64_t> number(Database& database, std::string_view sql) {
  QQ_TRY(Statement statement, database.prepare(sql));
  statement.bind();
  QQ_TRY(const bool row, statement.step());
  const std::int64_t value = row ? statement.integer(0) : 0;
  statement.reset();
  return value;
}

Error of_another_kind(std::string_view why) {
  return Error::gateway(ErrorKind::Config, fmt::format("the file is a database {}; give another path", why));
}

}  // namespace

Result<> migrate(Database& database, std::int32_t application, std::span<const Migration> migrations,
                 WallTime now) {
  QQ_TRY(Transaction transaction, Transaction::begin(database));
  QQ_TRY(const std::int64_t marked, number(database, "PRAGMA application_id"));
  QQ_TRY(const std::int64_t tables, number(database, "SELECT count(*) FROM sqlite_schema"));
  if (marked != application) {
    if (marked != 0 || tables != 0) return fail(of_another_kind("of something else"));
    QQ_CHECK(database.run(fmt::format("PRAGMA application_id = {}", application).c_str()));
    QQ_CHECK(
        database.run("CREATE TABLE schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL,"
                     " applied_unix_ms INTEGER NOT NULL) STRICT"));
  }
  QQ_TRY(const std::int64_t version, number(database, "SELECT max(version) FROM schema_migrations"));
  if (version > static_cast<std::int64_t>(migrations.size())) {
    return fail(of_another_kind(
        fmt::format("that a newer Queqiao wrote (its schema is {}, ours {})", version, migrations.size())));
  }
  for (auto next = static_cast<std::size_t>(version); next < migrations.size(); ++next) {
    QQ_CHECK(database.run(migrations[next].sql));
    QQ_TRY(Statement noted, database.prepare("INSERT INTO schema_migrations VALUES (?, ?, ?)"));
    noted.bind(static_cast<std::int64_t>(next + 1), migrations[next].name,
               std::chrono::duration_cast<Milliseconds>(now.time_since_epoch()).count());
    QQ_CHECK(noted.run());
  }
  return transaction.commit();
}

}  // namespace qq::storage
