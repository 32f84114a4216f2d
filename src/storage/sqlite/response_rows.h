// The tables of answers and conversations, and all SQL about them. Synchronous: SqliteResponseStore runs it
// on its threads. What each call promises is told in relay/response_store.h.
//
//   entries    one row for an answer or a conversation, with its bytes and when it runs out
//   inputs     what the model was given, apart, so that an entry's row stays small
//   items      of conversations, in the order of their row ids
//   answer_items  which answer has an item of that id in its output
//   owners     bytes and entries of each owner, kept by triggers; `totals` of all
//
// Threading: as Database; a writer and a reader each have their own ResponseRows on the same file.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "relay/response_store.h"
#include "storage/sqlite/database.h"

namespace qq::storage {

class ResponseRows {
 public:
  // Opens the file and brings its schema up to date. Errors: Config, with the path.
  static Result<std::unique_ptr<ResponseRows>> open(const std::string& path,
                                                    const relay::ResponseLimits& limits, WallTime now);
  ~ResponseRows();

  // Who asks, and when.
  struct Asked {
    std::string_view owner;
    WallTime now;
  };
  Result<> put(Asked asked, const relay::StoredResponse& response,
               const std::vector<relay::ConversationItem>& turn);
  Result<std::shared_ptr<const relay::StoredResponse>> get(Asked asked, std::string_view id);
  Result<std::shared_ptr<const relay::StoredResponse>> get_with_item(Asked asked, std::string_view item_id);
  Result<> remove(Asked asked, std::string_view id);

  Result<> create_conversation(Asked asked, const relay::Conversation& conversation,
                               const std::vector<relay::ConversationItem>& items);
  Result<relay::Conversation> conversation(Asked asked, std::string_view id);
  Result<relay::Conversation> set_metadata(Asked asked, std::string_view id, std::string_view metadata);
  Result<> remove_conversation(Asked asked, std::string_view id);

  Result<> append_items(Asked asked, std::string_view id, const std::vector<relay::ConversationItem>& items);
  Result<relay::ItemPage> list_items(Asked asked, std::string_view id, const relay::ItemQuery& query);
  Result<relay::ConversationItem> item(Asked asked, std::string_view id, std::string_view item_id);
  Result<relay::Conversation> remove_item(Asked asked, std::string_view id, std::string_view item_id);

  Result<std::size_t> remove_expired(WallTime now, std::size_t most);

 private:
  struct Statements;
  struct Entry;
  enum class Kind : std::int64_t { Response = 0, Conversation = 1 };

  ResponseRows(Database database, const relay::ResponseLimits& limits);
  Result<std::optional<Entry>> find(Asked asked, Kind kind, std::string_view id);
  Result<Entry> find_conversation(Asked asked, std::string_view id);
  Result<std::int64_t> insert(Asked asked, Kind kind, std::string_view id, std::int64_t created_ms,
                              std::size_t bytes, std::string_view json);
  Result<> remove_entry(std::int64_t entry);
  Result<> add_items(std::int64_t entry, const std::vector<relay::ConversationItem>& items);
  Result<> changed(Asked asked, std::int64_t entry, std::size_t bytes);
  Result<> append(Asked asked, const Entry& entry, const std::vector<relay::ConversationItem>& items);
  Result<> make_room(Asked asked, std::int64_t keep, std::int64_t keep_too);
  [[nodiscard]] std::int64_t expires_ms(WallTime now) const noexcept;

  Database database_;
  const relay::ResponseLimits limits_;
  std::unique_ptr<Statements> statements_;
};

}  // namespace qq::storage
