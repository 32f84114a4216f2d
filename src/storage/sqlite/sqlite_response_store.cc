#include "storage/sqlite/sqlite_response_store.h"

#include <utility>

namespace qq::storage {
namespace {

using relay::StoreCall;

BlockingPool::Options named(BlockingPool::Options options, const char* name) {
  options.name = name;
  options.threads = 1;  // a connection is of one thread at a time
  return options;
}

ResponseRows::Asked asked(const StoreCall& call) noexcept {
  return {call.owner, call.now};
}

net::Scope bounded(const StoreCall& call) noexcept {
  return call.scope.until(call.loop->now() + relay::kStoreWaitMax);
}

}  // namespace

SqliteResponseStore::SqliteResponseStore(std::unique_ptr<ResponseRows> writer,
                                         std::unique_ptr<ResponseRows> reader, std::size_t entry_bytes_max,
                                         Report report, const BlockingPool::Options& pool)
    : entry_bytes_max_(entry_bytes_max),
      troubles_("the store of responses", std::move(report)),
      writer_rows_(std::move(writer)),
      reader_rows_(std::move(reader)),
      writer_(named(pool, "qq-store-write")),
      reader_(named(pool, "qq-store-read")) {}

Result<std::unique_ptr<relay::ResponseStore>> SqliteResponseStore::open(const std::string& path,
                                                                        const relay::ResponseLimits& limits,
                                                                        WallTime now, Report report,
                                                                        const BlockingPool::Options& pool) {
  QQ_TRY(auto writer, ResponseRows::open(path, limits, now));
  QQ_TRY(auto reader, ResponseRows::open(path, limits, now));
  return std::unique_ptr<relay::ResponseStore>(new SqliteResponseStore(
      std::move(writer), std::move(reader), limits.entry_bytes_max, std::move(report), pool));
}

Task<Result<>> SqliteResponseStore::put(StoreCall call, relay::StoredResponse response) {
  std::vector<relay::ConversationItem> no_turn;
  co_return co_await put_turn(std::move(call), std::move(response), std::move(no_turn));
}

Task<Result<>> SqliteResponseStore::put_turn(StoreCall call, relay::StoredResponse response,
                                             std::vector<relay::ConversationItem> turn) {
  const std::size_t bytes = relay::bytes_of(response) + relay::bytes_of(turn);
  net::EventLoop& loop = *call.loop;
  std::string owner = call.owner;
  const net::Scope scope = bounded(call);
  auto work = [this, call = std::move(call), response = std::move(response), turn = std::move(turn)] {
    return told(call.now, writer_rows_->put(asked(call), response, turn));
  };
  co_return co_await writer_.run(loop, scope, bytes, std::move(work), std::move(owner));
}

Task<Result<std::shared_ptr<const relay::StoredResponse>>> SqliteResponseStore::get(StoreCall call,
                                                                                    std::string id) {
  net::EventLoop& loop = *call.loop;
  std::string owner = call.owner;
  const net::Scope scope = bounded(call);
  auto work = [this, call = std::move(call), id = std::move(id)] {
    return told(call.now, reader_rows_->get(asked(call), id));
  };
  co_return co_await reader_.run(loop, scope, 0, std::move(work), std::move(owner));
}

Task<Result<std::shared_ptr<const relay::StoredResponse>>> SqliteResponseStore::get_with_item(
    StoreCall call, std::string item_id) {
  net::EventLoop& loop = *call.loop;
  std::string owner = call.owner;
  const net::Scope scope = bounded(call);
  auto work = [this, call = std::move(call), id = std::move(item_id)] {
    return told(call.now, reader_rows_->get_with_item(asked(call), id));
  };
  co_return co_await reader_.run(loop, scope, 0, std::move(work), std::move(owner));
}

Task<Result<>> SqliteResponseStore::remove(StoreCall call, std::string id) {
  net::EventLoop& loop = *call.loop;
  std::string owner = call.owner;
  const net::Scope scope = bounded(call);
  auto work = [this, call = std::move(call), id = std::move(id)] {
    return told(call.now, writer_rows_->remove(asked(call), id));
  };
  co_return co_await writer_.run(loop, scope, 0, std::move(work), std::move(owner));
}

Task<Result<>> SqliteResponseStore::create_conversation(StoreCall call, relay::Conversation conversation,
                                                        std::vector<relay::ConversationItem> items) {
  const std::size_t bytes = relay::bytes_of(conversation) + relay::bytes_of(items);
  net::EventLoop& loop = *call.loop;
  std::string owner = call.owner;
  const net::Scope scope = bounded(call);
  auto work = [this, call = std::move(call), conversation = std::move(conversation),
               items = std::move(items)] {
    return told(call.now, writer_rows_->create_conversation(asked(call), conversation, items));
  };
  co_return co_await writer_.run(loop, scope, bytes, std::move(work), std::move(owner));
}

Task<Result<relay::Conversation>> SqliteResponseStore::conversation(StoreCall call, std::string id) {
  net::EventLoop& loop = *call.loop;
  std::string owner = call.owner;
  const net::Scope scope = bounded(call);
  auto work = [this, call = std::move(call), id = std::move(id)] {
    return told(call.now, reader_rows_->conversation(asked(call), id));
  };
  co_return co_await reader_.run(loop, scope, 0, std::move(work), std::move(owner));
}

Task<Result<relay::Conversation>> SqliteResponseStore::set_metadata(StoreCall call, std::string id,
                                                                    std::string metadata) {
  const std::size_t bytes = metadata.size();
  net::EventLoop& loop = *call.loop;
  std::string owner = call.owner;
  const net::Scope scope = bounded(call);
  auto work = [this, call = std::move(call), id = std::move(id), metadata = std::move(metadata)] {
    return told(call.now, writer_rows_->set_metadata(asked(call), id, metadata));
  };
  co_return co_await writer_.run(loop, scope, bytes, std::move(work), std::move(owner));
}

Task<Result<>> SqliteResponseStore::remove_conversation(StoreCall call, std::string id) {
  net::EventLoop& loop = *call.loop;
  std::string owner = call.owner;
  const net::Scope scope = bounded(call);
  auto work = [this, call = std::move(call), id = std::move(id)] {
    return told(call.now, writer_rows_->remove_conversation(asked(call), id));
  };
  co_return co_await writer_.run(loop, scope, 0, std::move(work), std::move(owner));
}

Task<Result<>> SqliteResponseStore::append_items(StoreCall call, std::string conversation,
                                                 std::vector<relay::ConversationItem> items) {
  const std::size_t bytes = relay::bytes_of(items);
  net::EventLoop& loop = *call.loop;
  std::string owner = call.owner;
  const net::Scope scope = bounded(call);
  auto work = [this, call = std::move(call), id = std::move(conversation), items = std::move(items)] {
    return told(call.now, writer_rows_->append_items(asked(call), id, items));
  };
  co_return co_await writer_.run(loop, scope, bytes, std::move(work), std::move(owner));
}

Task<Result<relay::ItemPage>> SqliteResponseStore::list_items(StoreCall call, std::string conversation,
                                                              relay::ItemQuery query) {
  net::EventLoop& loop = *call.loop;
  std::string owner = call.owner;
  const net::Scope scope = bounded(call);
  auto work = [this, call = std::move(call), id = std::move(conversation), query = std::move(query)] {
    return told(call.now, reader_rows_->list_items(asked(call), id, query));
  };
  co_return co_await reader_.run(loop, scope, 0, std::move(work), std::move(owner));
}

Task<Result<relay::ConversationItem>> SqliteResponseStore::item(StoreCall call, std::string conversation,
                                                                std::string id) {
  net::EventLoop& loop = *call.loop;
  std::string owner = call.owner;
  const net::Scope scope = bounded(call);
  auto work = [this, call = std::move(call), conversation = std::move(conversation), id = std::move(id)] {
    return told(call.now, reader_rows_->item(asked(call), conversation, id));
  };
  co_return co_await reader_.run(loop, scope, 0, std::move(work), std::move(owner));
}

Task<Result<relay::Conversation>> SqliteResponseStore::remove_item(StoreCall call, std::string conversation,
                                                                   std::string id) {
  net::EventLoop& loop = *call.loop;
  std::string owner = call.owner;
  const net::Scope scope = bounded(call);
  auto work = [this, call = std::move(call), conversation = std::move(conversation), id = std::move(id)] {
    return told(call.now, writer_rows_->remove_item(asked(call), conversation, id));
  };
  co_return co_await writer_.run(loop, scope, 0, std::move(work), std::move(owner));
}

Task<Result<std::size_t>> SqliteResponseStore::remove_expired(StoreCall call, std::size_t most) {
  net::EventLoop& loop = *call.loop;
  const net::Scope scope = bounded(call);
  auto work = [this, now = call.now, most] { return told(now, writer_rows_->remove_expired(now, most)); };
  co_return co_await writer_.run(loop, scope, 0, std::move(work));
}

}  // namespace qq::storage
