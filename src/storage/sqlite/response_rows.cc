#include "storage/sqlite/response_rows.h"

#include <fmt/format.h>

#include "base/assert.h"
#include "storage/sqlite/response_schema.h"
#include "storage/sqlite/unix_ms.h"

namespace qq::storage {
namespace {

using relay::ConversationItem;

std::int64_t signed_of(std::size_t number) noexcept {
  return static_cast<std::int64_t>(number);
}

}  // namespace

struct ResponseRows::Entry {
  std::int64_t row = 0;
  std::size_t bytes = 0;
  relay::Conversation conversation;  // of an answer, its response object is the metadata
};

struct ResponseRows::Statements {
  static Result<std::unique_ptr<Statements>> prepare(Database& database) {
    QQ_TRY(Statement found, database.prepare("SELECT entry, bytes, created_unix_ms, expires_unix_ms, json"
                                             "  FROM entries WHERE owner = ? AND kind = ? AND id = ?"
                                             "   AND expires_unix_ms > ?"));
    QQ_TRY(Statement got,
           database.prepare("SELECT e.created_unix_ms, e.expires_unix_ms, e.model, e.previous_id,"
                            "       e.conversation_id, e.json, i.json"
                            "  FROM entries e JOIN inputs i ON i.entry = e.entry"
                            " WHERE e.owner = ? AND e.kind = 0 AND e.id = ? AND e.expires_unix_ms > ?"));
    QQ_TRY(Statement inserted,
           database.prepare("INSERT INTO entries (owner, kind, id, created_unix_ms, changed_unix_ms,"
                            " expires_unix_ms, bytes, model, previous_id, conversation_id, json)"
                            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
    QQ_TRY(Statement got_with_item,
           database.prepare("SELECT e.created_unix_ms, e.expires_unix_ms, e.model, e.previous_id,"
                            "       e.conversation_id, e.json, e.id"
                            "  FROM answer_items a JOIN entries e ON e.entry = a.entry"
                            " WHERE a.id = ? AND e.owner = ? AND e.expires_unix_ms > ?"
                            " ORDER BY a.entry DESC LIMIT 1"));
    QQ_TRY(Statement answer_item,
           database.prepare("INSERT INTO answer_items VALUES (?, ?) ON CONFLICT DO NOTHING"));
    QQ_TRY(Statement input, database.prepare("INSERT INTO inputs VALUES (?, ?)"));
    QQ_TRY(Statement replaced,
           database.prepare("DELETE FROM entries WHERE owner = ? AND kind = ? AND id = ?"));
    QQ_TRY(Statement removed, database.prepare("DELETE FROM entries WHERE entry = ?"));
    QQ_TRY(Statement item_added,
           database.prepare("INSERT INTO items (entry, id, bytes, json) VALUES (?, ?, ?, ?)"
                            " ON CONFLICT DO NOTHING"));
    QQ_TRY(Statement item_found,
           database.prepare("SELECT item, bytes, json FROM items WHERE entry = ? AND id = ?"));
    QQ_TRY(Statement item_removed, database.prepare("DELETE FROM items WHERE item = ?"));
    QQ_TRY(Statement oldest_items, database.prepare("SELECT id, json FROM items WHERE entry = ? AND item > ?"
                                                    " ORDER BY item LIMIT ?"));
    QQ_TRY(Statement newest_items, database.prepare("SELECT id, json FROM items WHERE entry = ? AND item < ?"
                                                    " ORDER BY item DESC LIMIT ?"));
    QQ_TRY(Statement touched, database.prepare("UPDATE entries SET changed_unix_ms = ?, expires_unix_ms = ?,"
                                               " bytes = ? WHERE entry = ?"));
    QQ_TRY(Statement retold, database.prepare("UPDATE entries SET json = ? WHERE entry = ?"));
    QQ_TRY(Statement owner, database.prepare("SELECT bytes, entries FROM owners WHERE owner = ?"));
    QQ_TRY(Statement total, database.prepare("SELECT bytes FROM totals"));
    QQ_TRY(Statement largest,
           database.prepare("SELECT owner FROM owners ORDER BY bytes DESC, owner LIMIT 2"));
    QQ_TRY(Statement oldest,
           database.prepare("SELECT entry FROM entries WHERE owner = ? AND entry NOT IN (?, ?)"
                            " ORDER BY changed_unix_ms, entry LIMIT 1"));
    QQ_TRY(Statement run_out, database.prepare("SELECT entry FROM entries WHERE expires_unix_ms <= ?"
                                               " ORDER BY expires_unix_ms, entry LIMIT ?"));
    return std::make_unique<Statements>(Statements{
        std::move(found),        std::move(got),        std::move(got_with_item), std::move(answer_item),
        std::move(inserted),     std::move(input),      std::move(replaced),      std::move(removed),
        std::move(item_added),   std::move(item_found), std::move(item_removed),  std::move(oldest_items),
        std::move(newest_items), std::move(touched),    std::move(retold),        std::move(owner),
        std::move(total),        std::move(largest),    std::move(oldest),        std::move(run_out)});
  }

  Statement found;
  Statement got;
  Statement got_with_item;
  Statement answer_item;
  Statement inserted;
  Statement input;
  Statement replaced;
  Statement removed;
  Statement item_added;
  Statement item_found;
  Statement item_removed;
  Statement oldest_items;
  Statement newest_items;
  Statement touched;
  Statement retold;
  Statement owner;
  Statement total;
  Statement largest;
  Statement oldest;
  Statement run_out;
};

ResponseRows::ResponseRows(Database database, const relay::ResponseLimits& limits)
    : database_(std::move(database)), limits_(limits) {}
ResponseRows::~ResponseRows() = default;

Result<std::unique_ptr<ResponseRows>> ResponseRows::open(const std::string& path,
                                                         const relay::ResponseLimits& limits, WallTime now) {
  QQ_TRY(Database database, Database::open(path));
  std::unique_ptr<ResponseRows> rows(new ResponseRows(std::move(database), limits));
  const auto set_up = [&]() -> Result<> {
    QQ_CHECK(migrate(rows->database_, kResponsesApplication, kResponseMigrations, now));
    QQ_TRY(rows->statements_, Statements::prepare(rows->database_));
    return {};
  };
  if (auto made = set_up(); !made) {
    return fail(Error::gateway(ErrorKind::Config, fmt::format("cannot use {} for stored responses: {}", path,
                                                              made.error().message)));
  }
  return rows;
}

std::int64_t ResponseRows::expires_ms(WallTime now) const noexcept {
  return unix_ms(now) + limits_.ttl.count();
}

Result<std::optional<ResponseRows::Entry>> ResponseRows::find(Asked asked, Kind kind, std::string_view id) {
  Statement& found = statements_->found;
  found.bind(asked.owner, static_cast<std::int64_t>(kind), id, unix_ms(asked.now));
  QQ_TRY(const bool row, found.step());
  if (!row) return std::nullopt;
  Entry entry;
  entry.row = found.integer(0);
  entry.bytes = static_cast<std::size_t>(found.integer(1));
  entry.conversation.id = id;
  entry.conversation.created = wall_time(found.integer(2));
  entry.conversation.expires = wall_time(found.integer(3));
  entry.conversation.metadata = found.text(4);
  found.reset();
  return entry;
}

Result<ResponseRows::Entry> ResponseRows::find_conversation(Asked asked, std::string_view id) {
  QQ_TRY(auto entry, find(asked, Kind::Conversation, id));
  if (!entry) return fail(relay::conversation_not_found(id));
  return *std::move(entry);
}

Result<> ResponseRows::put(Asked asked, const relay::StoredResponse& response,
                           const std::vector<ConversationItem>& turn) {
  const std::size_t bytes = relay::bytes_of(response);
  if (bytes > limits_.entry_bytes_max) return fail(relay::entry_too_large(bytes, limits_.entry_bytes_max));
  QQ_TRY(Transaction transaction, Transaction::begin(database_));
  std::int64_t conversation = 0;
  if (!turn.empty()) {
    QQ_TRY(const Entry entry, find_conversation(asked, response.conversation_id));
    QQ_CHECK(append(asked, entry, turn));
    conversation = entry.row;
  }
  Statement& replaced = statements_->replaced;
  replaced.bind(asked.owner, static_cast<std::int64_t>(Kind::Response), std::string_view(response.id));
  QQ_CHECK(replaced.run());
  Statement& inserted = statements_->inserted;
  inserted.bind(asked.owner, static_cast<std::int64_t>(Kind::Response), response.id,
                unix_ms(response.created), unix_ms(asked.now), expires_ms(asked.now), signed_of(bytes),
                response.model, response.previous_id, response.conversation_id, response.response);
  QQ_CHECK(inserted.run());
  const std::int64_t row = database_.last_insert_id();
  statements_->input.bind(row, response.input);
  QQ_CHECK(statements_->input.run());
  for (const std::string& item : response.item_ids) {
    statements_->answer_item.bind(item, row);
    QQ_CHECK(statements_->answer_item.run());
  }
  QQ_CHECK(make_room(asked, row, conversation));
  return transaction.commit();
}

namespace {

// What both ways to a response select first.
std::shared_ptr<relay::StoredResponse> first_columns(Statement& got) {
  auto response = std::make_shared<relay::StoredResponse>();
  response->created = wall_time(got.integer(0));
  response->expires = wall_time(got.integer(1));
  response->model = got.text(2);
  response->previous_id = got.text(3);
  response->conversation_id = got.text(4);
  response->response = got.text(5);
  return response;
}

}  // namespace

Result<std::shared_ptr<const relay::StoredResponse>> ResponseRows::get(Asked asked, std::string_view id) {
  Statement& got = statements_->got;
  got.bind(asked.owner, id, unix_ms(asked.now));
  QQ_TRY(const bool row, got.step());
  if (!row) return fail(relay::response_not_found(id));
  auto response = first_columns(got);
  response->id = id;
  response->input = got.text(6);
  got.reset();
  return response;
}

Result<std::shared_ptr<const relay::StoredResponse>> ResponseRows::get_with_item(Asked asked,
                                                                                 std::string_view item_id) {
  Statement& got = statements_->got_with_item;
  got.bind(item_id, asked.owner, unix_ms(asked.now));
  QQ_TRY(const bool row, got.step());
  if (!row) return fail(relay::item_not_found(item_id));
  auto response = first_columns(got);
  response->id = got.text(6);
  got.reset();
  return response;
}

Result<> ResponseRows::remove(Asked asked, std::string_view id) {
  QQ_TRY(Transaction transaction, Transaction::begin(database_));
  QQ_TRY(const auto entry, find(asked, Kind::Response, id));
  if (!entry) return fail(relay::response_not_found(id));
  QQ_CHECK(remove_entry(entry->row));
  return transaction.commit();
}

Result<> ResponseRows::create_conversation(Asked asked, const relay::Conversation& conversation,
                                           const std::vector<ConversationItem>& items) {
  const std::size_t bytes = relay::bytes_of(conversation) + relay::bytes_of(items);
  if (bytes > limits_.entry_bytes_max) return fail(relay::entry_too_large(bytes, limits_.entry_bytes_max));
  QQ_TRY(Transaction transaction, Transaction::begin(database_));
  QQ_TRY(const auto there, find(asked, Kind::Conversation, conversation.id));
  if (there) return fail(relay::id_taken(conversation.id));
  // One that ran out may still take its place.
  Statement& replaced = statements_->replaced;
  replaced.bind(asked.owner, static_cast<std::int64_t>(Kind::Conversation), conversation.id);
  QQ_CHECK(replaced.run());
  constexpr std::string_view kNone;
  Statement& inserted = statements_->inserted;
  inserted.bind(asked.owner, static_cast<std::int64_t>(Kind::Conversation), conversation.id,
                unix_ms(conversation.created), unix_ms(asked.now), expires_ms(asked.now), signed_of(bytes),
                kNone, kNone, kNone, conversation.metadata);
  QQ_CHECK(inserted.run());
  const std::int64_t row = database_.last_insert_id();
  QQ_CHECK(add_items(row, items));
  QQ_CHECK(make_room(asked, row, 0));
  return transaction.commit();
}

Result<relay::Conversation> ResponseRows::conversation(Asked asked, std::string_view id) {
  QQ_TRY(Entry entry, find_conversation(asked, id));
  return std::move(entry.conversation);
}

Result<relay::Conversation> ResponseRows::set_metadata(Asked asked, std::string_view id,
                                                       std::string_view metadata) {
  QQ_TRY(Transaction transaction, Transaction::begin(database_));
  QQ_TRY(Entry entry, find_conversation(asked, id));
  const std::size_t bytes = entry.bytes - entry.conversation.metadata.size() + metadata.size();
  if (bytes > limits_.entry_bytes_max) return fail(relay::entry_too_large(bytes, limits_.entry_bytes_max));
  statements_->retold.bind(metadata, entry.row);
  QQ_CHECK(statements_->retold.run());
  QQ_CHECK(changed(asked, entry.row, bytes));
  QQ_CHECK(make_room(asked, entry.row, 0));
  QQ_CHECK(transaction.commit());
  entry.conversation.metadata = metadata;
  entry.conversation.expires = wall_time(expires_ms(asked.now));
  return std::move(entry.conversation);
}

Result<> ResponseRows::remove_conversation(Asked asked, std::string_view id) {
  QQ_TRY(Transaction transaction, Transaction::begin(database_));
  QQ_TRY(const Entry entry, find_conversation(asked, id));
  QQ_CHECK(remove_entry(entry.row));
  return transaction.commit();
}

Result<> ResponseRows::append_items(Asked asked, std::string_view id,
                                    const std::vector<ConversationItem>& items) {
  QQ_TRY(Transaction transaction, Transaction::begin(database_));
  QQ_TRY(const Entry entry, find_conversation(asked, id));
  QQ_CHECK(append(asked, entry, items));
  QQ_CHECK(make_room(asked, entry.row, 0));
  return transaction.commit();
}

Result<relay::ItemPage> ResponseRows::list_items(Asked asked, std::string_view id,
                                                 const relay::ItemQuery& query) {
  QQ_TRY(Transaction transaction, Transaction::begin_read(database_));
  QQ_TRY(const Entry entry, find_conversation(asked, id));
  const bool newest_first = query.order == relay::ItemQuery::Order::NewestFirst;
  std::int64_t position = newest_first ? std::numeric_limits<std::int64_t>::max() : 0;
  if (!query.after.empty()) {
    Statement& found = statements_->item_found;
    found.bind(entry.row, query.after);
    QQ_TRY(const bool row, found.step());
    if (!row) return fail(relay::item_not_found(query.after));
    position = found.integer(0);
    found.reset();
  }
  // One more than asked for says whether there are more.
  const std::int64_t most = query.limit >= static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max())
                                ? -1
                                : signed_of(query.limit) + 1;
  Statement& items = newest_first ? statements_->newest_items : statements_->oldest_items;
  items.bind(entry.row, position, most);
  relay::ItemPage page;
  for (;;) {
    QQ_TRY(const bool row, items.step());
    if (!row) break;
    if (page.items.size() == query.limit) {
      page.has_more = true;
      items.reset();
      break;
    }
    page.items.push_back({std::string(items.text(0)), std::string(items.text(1))});
  }
  QQ_CHECK(transaction.commit());
  return page;
}

Result<ConversationItem> ResponseRows::item(Asked asked, std::string_view id, std::string_view item_id) {
  QQ_TRY(Transaction transaction, Transaction::begin_read(database_));
  QQ_TRY(const Entry entry, find_conversation(asked, id));
  Statement& found = statements_->item_found;
  found.bind(entry.row, item_id);
  QQ_TRY(const bool row, found.step());
  if (!row) return fail(relay::item_not_found(item_id));
  ConversationItem item{std::string(item_id), std::string(found.text(2))};
  found.reset();
  QQ_CHECK(transaction.commit());
  return item;
}

Result<relay::Conversation> ResponseRows::remove_item(Asked asked, std::string_view id,
                                                      std::string_view item_id) {
  QQ_TRY(Transaction transaction, Transaction::begin(database_));
  QQ_TRY(Entry entry, find_conversation(asked, id));
  Statement& found = statements_->item_found;
  found.bind(entry.row, item_id);
  QQ_TRY(const bool row, found.step());
  if (!row) return fail(relay::item_not_found(item_id));
  const std::int64_t item = found.integer(0);
  const auto bytes = static_cast<std::size_t>(found.integer(1));
  found.reset();
  statements_->item_removed.bind(item);
  QQ_CHECK(statements_->item_removed.run());
  QQ_CHECK(changed(asked, entry.row, entry.bytes - bytes));
  QQ_CHECK(transaction.commit());
  entry.conversation.expires = wall_time(expires_ms(asked.now));
  return std::move(entry.conversation);
}

Result<std::size_t> ResponseRows::remove_expired(WallTime now, std::size_t most) {
  QQ_TRY(Transaction transaction, Transaction::begin(database_));
  std::vector<std::int64_t> rows;
  statements_->run_out.bind(unix_ms(now), signed_of(most));
  for (;;) {
    QQ_TRY(const bool row, statements_->run_out.step());
    if (!row) break;
    rows.push_back(statements_->run_out.integer(0));
  }
  for (const std::int64_t row : rows) QQ_CHECK(remove_entry(row));
  QQ_CHECK(transaction.commit());
  // 4 MiB of the file at most, so that a step stays short.
  if (!rows.empty()) QQ_CHECK(database_.run("PRAGMA incremental_vacuum(1024)"));
  return rows.size();
}

Result<> ResponseRows::remove_entry(std::int64_t entry) {
  statements_->removed.bind(entry);
  return statements_->removed.run();
}

Result<> ResponseRows::append(Asked asked, const Entry& entry, const std::vector<ConversationItem>& items) {
  const std::size_t bytes = entry.bytes + relay::bytes_of(items);
  if (bytes > limits_.entry_bytes_max) return fail(relay::entry_too_large(bytes, limits_.entry_bytes_max));
  QQ_CHECK(add_items(entry.row, items));
  return changed(asked, entry.row, bytes);
}

Result<> ResponseRows::add_items(std::int64_t entry, const std::vector<ConversationItem>& items) {
  Statement& added = statements_->item_added;
  for (const ConversationItem& item : items) {
    added.bind(entry, item.id, signed_of(relay::bytes_of(item)), item.json);
    QQ_CHECK(added.run());
    if (database_.changed_rows() == 0) return fail(relay::id_taken(item.id));
  }
  return {};
}

Result<> ResponseRows::changed(Asked asked, std::int64_t entry, std::size_t bytes) {
  statements_->touched.bind(unix_ms(asked.now), expires_ms(asked.now), signed_of(bytes), entry);
  return statements_->touched.run();
}

Result<> ResponseRows::make_room(Asked asked, std::int64_t keep, std::int64_t keep_too) {
  Statement& oldest = statements_->oldest;
  // False if the owner has no more than what is kept.
  const auto remove_oldest = [&](std::string_view owner) -> Result<bool> {
    oldest.bind(owner, keep, keep_too);
    QQ_TRY(const bool row, oldest.step());
    if (!row) return false;
    const std::int64_t entry = oldest.integer(0);
    oldest.reset();
    QQ_CHECK(remove_entry(entry));
    return true;
  };
  for (;;) {
    Statement& owner = statements_->owner;
    owner.bind(asked.owner);
    QQ_TRY(const bool row, owner.step());
    QQ_ASSERT(row);
    const bool over = owner.integer(0) > signed_of(limits_.owner_bytes_max) ||
                      owner.integer(1) > signed_of(limits_.owner_entries_max);
    owner.reset();
    if (!over) break;
    QQ_TRY(const bool removed, remove_oldest(asked.owner));
    QQ_ASSERT(removed);  // what is kept fits
  }
  for (;;) {
    QQ_TRY(const bool total, statements_->total.step());
    QQ_ASSERT(total);
    const bool over = statements_->total.integer(0) > signed_of(limits_.total_bytes_max);
    statements_->total.reset();
    if (!over) return {};
    Statement& run_out = statements_->run_out;
    run_out.bind(unix_ms(asked.now), std::int64_t{1});
    QQ_TRY(const bool row, run_out.step());
    if (row) {
      const std::int64_t entry = run_out.integer(0);
      run_out.reset();
      QQ_CHECK(remove_entry(entry));
      continue;
    }
    // If the one with most has only what is kept, it is the turn of the next one.
    std::vector<std::string> largest;
    for (;;) {
      QQ_TRY(const bool owner, statements_->largest.step());
      if (!owner) break;
      largest.emplace_back(statements_->largest.text(0));
    }
    bool removed = false;
    for (const std::string& owner : largest) {
      QQ_TRY(removed, remove_oldest(owner));
      if (removed) break;
    }
    QQ_ASSERT(removed);  // what is kept fits
  }
}

}  // namespace qq::storage
