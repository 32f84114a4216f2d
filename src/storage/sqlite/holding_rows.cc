#include "storage/sqlite/holding_rows.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "storage/sqlite/holding_schema.h"
#include "storage/sqlite/unix_ms.h"

namespace qq::storage {
namespace {

using relay::HoldingKind;

std::int64_t number_of(HoldingKind kind) noexcept {
  return static_cast<std::int64_t>(kind);
}

// "id, account, purpose, json, created_unix_ms, models" of a row.
relay::Holding holding_in(const Statement& row, HoldingKind kind) {
  relay::Holding holding;
  holding.kind = kind;
  holding.id = row.text(0);
  holding.account = row.text(1);
  holding.purpose = row.text(2);
  holding.object = row.text(3);
  holding.created = wall_time(row.integer(4));
  holding.models = row.text(5);
  return holding;
}

}  // namespace

struct HoldingRows::Statements {
  static Result<std::unique_ptr<Statements>> prepare(Database& database) {
    QQ_TRY(Statement count, database.prepare("SELECT count(*) FROM (SELECT 1 FROM holdings WHERE owner = ?"
                                             " AND expires_unix_ms > ? LIMIT ?)"));
    QQ_TRY(Statement run_out_one,
           database.prepare("DELETE FROM holdings WHERE kind = ? AND id = ? AND owner = ?"
                            " AND expires_unix_ms <= ?"));
    QQ_TRY(Statement put,
           database.prepare("INSERT INTO holdings (owner, kind, id, account, purpose, json, created_unix_ms,"
                            " expires_unix_ms, models) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
                            " ON CONFLICT (kind, id, owner) DO UPDATE SET account = excluded.account,"
                            " purpose = excluded.purpose, expires_unix_ms = excluded.expires_unix_ms,"
                            " json = CASE excluded.json WHEN '' THEN json ELSE excluded.json END,"
                            " models = CASE excluded.models WHEN '' THEN models ELSE excluded.models END"));
    QQ_TRY(Statement updated,
           database.prepare("UPDATE holdings SET account = ?1, purpose = ?2, expires_unix_ms = ?3,"
                            " json = CASE ?4 WHEN '' THEN json ELSE ?4 END,"
                            " models = CASE ?5 WHEN '' THEN models ELSE ?5 END"
                            " WHERE kind = ?6 AND id = ?7 AND owner = ?8 AND expires_unix_ms > ?9"));
    QQ_TRY(Statement got,
           database.prepare("SELECT id, account, purpose, json, created_unix_ms, models, number FROM holdings"
                            " WHERE kind = ? AND id = ? AND owner = ? AND expires_unix_ms > ?"));
    QQ_TRY(Statement removed, database.prepare("DELETE FROM holdings WHERE kind = ? AND id = ? AND owner = ?"
                                               " AND expires_unix_ms > ?"));
    QQ_TRY(Statement oldest,
           database.prepare("SELECT id, account, purpose, json, created_unix_ms, models FROM holdings"
                            " WHERE owner = ? AND kind = ? AND number > ? AND expires_unix_ms > ?"
                            " AND (?5 = '' OR purpose = ?5) ORDER BY number LIMIT ?"));
    QQ_TRY(Statement newest,
           database.prepare("SELECT id, account, purpose, json, created_unix_ms, models FROM holdings"
                            " WHERE owner = ? AND kind = ? AND number < ? AND expires_unix_ms > ?"
                            " AND (?5 = '' OR purpose = ?5) ORDER BY number DESC LIMIT ?"));
    QQ_TRY(Statement holder,
           database.prepare("SELECT owner = ?1, account FROM holdings WHERE kind = ?2 AND id = ?3"
                            " AND expires_unix_ms > ?4 ORDER BY owner = ?1 DESC LIMIT 1"));
    QQ_TRY(Statement settled,
           database.prepare("UPDATE holdings SET settled = 1 WHERE kind = ? AND id = ? AND owner = ?"
                            " AND expires_unix_ms > ? AND settled = 0"));
    QQ_TRY(Statement run_out,
           database.prepare("DELETE FROM holdings WHERE number IN (SELECT number FROM holdings"
                            " WHERE expires_unix_ms <= ? ORDER BY expires_unix_ms, number LIMIT ?)"));
    return std::make_unique<Statements>(Statements{std::move(count), std::move(run_out_one), std::move(put),
                                                   std::move(updated), std::move(got), std::move(removed),
                                                   std::move(oldest), std::move(newest), std::move(holder),
                                                   std::move(settled), std::move(run_out)});
  }

  Statement count;
  Statement run_out_one;
  Statement put;
  Statement updated;
  Statement got;
  Statement removed;
  Statement oldest;
  Statement newest;
  Statement holder;
  Statement settled;
  Statement run_out;
};

HoldingRows::HoldingRows(Database database, const relay::HoldingLimits& limits)
    : database_(std::move(database)), limits_(limits) {}
HoldingRows::~HoldingRows() = default;

Result<std::unique_ptr<HoldingRows>> HoldingRows::open(const std::string& path,
                                                       const relay::HoldingLimits& limits, WallTime now) {
  QQ_TRY(Database database, Database::open(path));
  std::unique_ptr<HoldingRows> rows(new HoldingRows(std::move(database), limits));
  const auto set_up = [&]() -> Result<> {
    QQ_CHECK(migrate(rows->database_, kHoldingsApplication, kHoldingMigrations, now));
    QQ_TRY(rows->statements_, Statements::prepare(rows->database_));
    return {};
  };
  if (auto made = set_up(); !made) {
    return fail(Error::gateway(ErrorKind::Config, fmt::format("cannot use {} for files and batches: {}", path,
                                                              made.error().message)));
  }
  return rows;
}

Result<bool> HoldingRows::has_room(Asked asked) {
  const auto most = static_cast<std::int64_t>(limits_.owner_entries_max);
  Statement& count = statements_->count;
  count.bind(asked.owner, unix_ms(asked.now), most);
  QQ_TRY(const bool row, count.step());
  const bool has = row && count.integer(0) < most;
  count.reset();
  return has;
}

Result<> HoldingRows::put(Asked asked, const relay::Holding& holding) {
  QQ_TRY(Transaction transaction, Transaction::begin(database_));
  // One that ran out is another, with a place of its own.
  statements_->run_out_one.bind(number_of(holding.kind), holding.id, asked.owner, unix_ms(asked.now));
  QQ_CHECK(statements_->run_out_one.run());
  statements_->put.bind(asked.owner, number_of(holding.kind), holding.id, holding.account, holding.purpose,
                        holding.object, unix_ms(asked.now), unix_ms(asked.now) + limits_.ttl.count(),
                        holding.models);
  QQ_CHECK(statements_->put.run());
  return transaction.commit();
}

Result<> HoldingRows::update(Asked asked, const relay::Holding& holding) {
  statements_->updated.bind(holding.account, holding.purpose, unix_ms(asked.now) + limits_.ttl.count(),
                            holding.object, holding.models, number_of(holding.kind), holding.id, asked.owner,
                            unix_ms(asked.now));
  QQ_CHECK(statements_->updated.run());
  if (database_.changed_rows() == 0) return fail(relay::holding_not_found(holding.kind, holding.id));
  return {};
}

Result<relay::Holding> HoldingRows::get(Asked asked, HoldingKind kind, std::string_view id) {
  Statement& got = statements_->got;
  got.bind(number_of(kind), id, asked.owner, unix_ms(asked.now));
  QQ_TRY(const bool row, got.step());
  if (!row) return fail(relay::holding_not_found(kind, id));
  relay::Holding holding = holding_in(got, kind);
  got.reset();
  return holding;
}

Result<> HoldingRows::remove(Asked asked, HoldingKind kind, std::string_view id) {
  statements_->removed.bind(number_of(kind), id, asked.owner, unix_ms(asked.now));
  QQ_CHECK(statements_->removed.run());
  if (database_.changed_rows() == 0) return fail(relay::holding_not_found(kind, id));
  return {};
}

Result<relay::HoldingPage> HoldingRows::list(Asked asked, const relay::HoldingQuery& query) {
  QQ_TRY(Transaction transaction, Transaction::begin_read(database_));
  const bool newest_first = query.order == relay::HoldingQuery::Order::NewestFirst;
  std::int64_t number = newest_first ? std::numeric_limits<std::int64_t>::max() : 0;
  if (!query.after.empty()) {
    Statement& got = statements_->got;
    got.bind(number_of(query.kind), query.after, asked.owner, unix_ms(asked.now));
    QQ_TRY(const bool row, got.step());
    if (!row) return fail(relay::holding_not_found(query.kind, query.after));
    number = got.integer(6);
    got.reset();
  }
  Statement& rows = newest_first ? statements_->newest : statements_->oldest;
  // One more than asked for says whether there are more.
  rows.bind(asked.owner, number_of(query.kind), number, unix_ms(asked.now), query.purpose,
            static_cast<std::int64_t>(query.limit) + 1);
  relay::HoldingPage page;
  for (;;) {
    QQ_TRY(const bool row, rows.step());
    if (!row) break;
    if (page.holdings.size() == query.limit) {
      page.has_more = true;
      rows.reset();
      break;
    }
    page.holdings.push_back(holding_in(rows, query.kind));
  }
  QQ_CHECK(transaction.commit());
  return page;
}

Result<relay::Holder> HoldingRows::holder(Asked asked, HoldingKind kind, std::string_view id) {
  using Who = relay::Holder::Who;
  Statement& holder = statements_->holder;
  holder.bind(asked.owner, number_of(kind), id, unix_ms(asked.now));
  QQ_TRY(const bool row, holder.step());
  if (!row) return relay::Holder{};
  relay::Holder found;
  found.who = holder.integer(0) != 0 ? Who::Caller : Who::Others;
  if (found.who == Who::Caller) found.account = holder.text(1);
  holder.reset();
  return found;
}

Result<bool> HoldingRows::settle(Asked asked, HoldingKind kind, std::string_view id) {
  statements_->settled.bind(number_of(kind), id, asked.owner, unix_ms(asked.now));
  QQ_CHECK(statements_->settled.run());
  return database_.changed_rows() == 1;
}

Result<std::size_t> HoldingRows::remove_expired(WallTime now, std::size_t most) {
  statements_->run_out.bind(unix_ms(now), static_cast<std::int64_t>(most));
  QQ_CHECK(statements_->run_out.run());
  const auto removed = static_cast<std::size_t>(database_.changed_rows());
  // 4 MiB of the file at most, so that a step stays short.
  if (removed > 0) QQ_CHECK(database_.run("PRAGMA incremental_vacuum(1024)"));
  return removed;
}

}  // namespace qq::storage
