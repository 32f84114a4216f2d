// What every ResponseStore promises, run on each implementation, and that the two answer alike whatever is
// asked of them.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <map>
#include <thread>

#include "base/random.h"
#include "net/epoll_loop.h"
#include "net/test_support.h"
#include "relay/response_store.h"
#include "storage/memory/memory_response_store.h"
#include "storage/sqlite/sqlite_response_store.h"
#include "storage/store_test_support.h"

namespace qq::storage {
namespace {

using namespace std::chrono_literals;
using namespace testing_support;
using relay::ConversationItem;
using relay::ItemQuery;

using OpenStore = std::unique_ptr<relay::ResponseStore> (*)(const std::string& path,
                                                            const relay::ResponseLimits& limits);
struct StoreKind {
  const char* name;
  OpenStore open;
};

std::unique_ptr<relay::ResponseStore> open_memory(const std::string&, const relay::ResponseLimits& limits) {
  return std::make_unique<MemoryResponseStore>(limits);
}
std::unique_ptr<relay::ResponseStore> open_sqlite(const std::string& path,
                                                  const relay::ResponseLimits& limits) {
  return SqliteResponseStore::open(path, limits, kStart).value();
}

class ResponseStoreContract : public ::testing::TestWithParam<StoreKind> {
 protected:
  void open(const relay::ResponseLimits& limits) {
    store_ = nullptr;
    ++files_;
    store_ = GetParam().open(folder_.file(std::to_string(files_)), limits);
  }
  void SetUp() override { open(roomy()); }

  relay::StoreCall as(std::string owner) { return {loop_, std::move(owner), now_, within(loop_)}; }
  template <typename T>
  T wait_for(Task<T> task) {
    return testing_support::wait_for(loop_, std::move(task));
  }

  Result<> put(const std::string& owner, relay::StoredResponse response) {
    return wait_for(store_->put(as(owner), std::move(response)));
  }
  bool has(const std::string& owner, const std::string& id) {
    return wait_for(store_->get(as(owner), id)).has_value();
  }
  Result<> create(const std::string& owner, const std::string& id, std::vector<ConversationItem> items = {}) {
    return wait_for(store_->create_conversation(as(owner), conversation(id), std::move(items)));
  }
  Result<> append(const std::string& owner, const std::string& id, std::vector<ConversationItem> items) {
    return wait_for(store_->append_items(as(owner), id, std::move(items)));
  }
  Result<relay::ItemPage> list(const std::string& owner, const std::string& id, ItemQuery query = {}) {
    return wait_for(store_->list_items(as(owner), id, std::move(query)));
  }
  // The ids of a conversation's items, or the error's kind.
  std::string ids(const std::string& owner, const std::string& id, ItemQuery query = {}) {
    const auto page = list(owner, id, std::move(query));
    if (!page) return std::string(to_string(page.error().kind));
    std::string all;
    for (const ConversationItem& item : page->items) all += item.id + " ";
    return all + (page->has_more ? "..." : "");
  }

  TemporaryFolder folder_;
  net::EpollLoop loop_;
  WallTime now_ = kStart;
  std::unique_ptr<relay::ResponseStore> store_;
  int files_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Stores, ResponseStoreContract,
                         ::testing::Values(StoreKind{"Memory", open_memory},
                                           StoreKind{"Sqlite", open_sqlite}),
                         [](const auto& info) { return std::string(info.param.name); });

ErrorKind kind_of(const auto& result) {
  return result ? ErrorKind::Internal : result.error().kind;
}

// --- answers ---

TEST_P(ResponseStoreContract, WhatWasPutIsGot) {
  relay::StoredResponse response = answer("resp_1");
  response.created = kStart - 3s;
  response.previous_id = "resp_0";
  response.conversation_id = "conv_1";
  // Texts come back byte for byte, whatever they hold.
  response.model = std::string("a'\"\0b\xff", 6);
  ASSERT_TRUE(put("anna", response));
  const auto got = wait_for(store_->get(as("anna"), "resp_1"));
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ((*got)->id, response.id);
  EXPECT_EQ((*got)->created, response.created);
  EXPECT_EQ((*got)->expires, kStart + roomy().ttl);
  EXPECT_EQ((*got)->model, response.model);
  EXPECT_EQ((*got)->response, response.response);
  EXPECT_EQ((*got)->input, response.input);
  EXPECT_EQ((*got)->previous_id, response.previous_id);
  EXPECT_EQ((*got)->conversation_id, response.conversation_id);
}

TEST_P(ResponseStoreContract, AnAnswerIsFoundByItsItemsByItsOwnerOnly) {
  const auto with_items = [](const char* id, std::vector<std::string> items) {
    relay::StoredResponse response = answer(id);
    response.item_ids = std::move(items);
    return response;
  };
  const auto found = [&](const char* owner, const char* item) {
    const auto got = wait_for(store_->get_with_item(as(owner), item));
    if (!got) {
      EXPECT_EQ(got.error().kind, ErrorKind::NotFound);
      return std::string();
    }
    return (*got)->id;
  };
  ASSERT_TRUE(put("anna", with_items("resp_1", {"rs_1", "msg_1"})));
  EXPECT_EQ(found("anna", "rs_1"), "resp_1");
  EXPECT_EQ(found("anna", "msg_1"), "resp_1");
  EXPECT_EQ(found("anna", "msg_2"), "");
  EXPECT_EQ(found("bert", "msg_1"), "");
  ASSERT_TRUE(put("anna", with_items("resp_2", {"msg_1", "msg_1"})));
  EXPECT_EQ(found("anna", "msg_1"), "resp_2") << "the one that was put last";
  ASSERT_TRUE(put("anna", with_items("resp_2", {"msg_2"}))) << "another one with the same id";
  EXPECT_EQ(found("anna", "msg_1"), "resp_1");
  EXPECT_EQ(found("anna", "msg_2"), "resp_2");
  ASSERT_TRUE(wait_for(store_->remove(as("anna"), "resp_1")));
  EXPECT_EQ(found("anna", "msg_1"), "");
  now_ += roomy().ttl;
  EXPECT_EQ(found("anna", "msg_2"), "") << "it has run out";
  EXPECT_EQ(wait_for(store_->remove_expired(as("anna"), 10)).value(), 1U);
  EXPECT_EQ(found("anna", "msg_2"), "");
}

TEST_P(ResponseStoreContract, WhatWasRemovedDoesNotExist) {
  ASSERT_TRUE(put("anna", answer("resp_1")));
  EXPECT_TRUE(wait_for(store_->remove(as("anna"), "resp_1")));
  EXPECT_FALSE(has("anna", "resp_1"));
  EXPECT_EQ(kind_of(wait_for(store_->remove(as("anna"), "resp_1"))), ErrorKind::NotFound);
}

TEST_P(ResponseStoreContract, AnotherOwnersAnswerIsLikeNone) {
  ASSERT_TRUE(put("anna", answer("resp_1")));
  const auto theirs = wait_for(store_->get(as("bob"), "resp_1"));
  ASSERT_FALSE(theirs);
  EXPECT_EQ(theirs.error().kind, ErrorKind::NotFound);
  EXPECT_EQ(theirs.error().message, "Response with id 'resp_1' not found.");
  EXPECT_EQ(kind_of(wait_for(store_->remove(as("bob"), "resp_1"))), ErrorKind::NotFound);
  EXPECT_TRUE(has("anna", "resp_1"));
}

TEST_P(ResponseStoreContract, OneIdMayStandUnderTwoOwners) {
  ASSERT_TRUE(put("anna", answer("resp_1", 10, 'a')));
  ASSERT_TRUE(put("bob", answer("resp_1", 10, 'b')));
  EXPECT_EQ((*wait_for(store_->get(as("anna"), "resp_1")))->response, std::string(10, 'a'));
  EXPECT_TRUE(wait_for(store_->remove(as("bob"), "resp_1")));
  EXPECT_TRUE(has("anna", "resp_1"));
}

TEST_P(ResponseStoreContract, AnAnswerPutAgainIsReplacedAndCountedOnce) {
  relay::ResponseLimits limits = roomy();
  limits.owner_bytes_max = 5 * bytes_of(answer("resp_1", 1000));
  open(limits);
  ASSERT_TRUE(put("anna", answer("resp_0", 1000)));
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(put("anna", answer("resp_1", 1000, static_cast<char>('a' + i))));
  EXPECT_TRUE(has("anna", "resp_0"));
  EXPECT_EQ((*wait_for(store_->get(as("anna"), "resp_1")))->response, std::string(1000, 't'));
}

TEST_P(ResponseStoreContract, AnAnswerAndAConversationMayHaveOneId) {
  ASSERT_TRUE(put("anna", answer("x")));
  ASSERT_TRUE(create("anna", "x"));
  EXPECT_TRUE(wait_for(store_->remove_conversation(as("anna"), "x")));
  EXPECT_TRUE(has("anna", "x"));
}

// --- running out ---

TEST_P(ResponseStoreContract, AnAnswerRunsOutAfterItsTtl) {
  ASSERT_TRUE(put("anna", answer("resp_1")));
  now_ = kStart + roomy().ttl - 1ms;
  EXPECT_TRUE(has("anna", "resp_1"));
  now_ += 1ms;
  EXPECT_FALSE(has("anna", "resp_1"));
  EXPECT_EQ(kind_of(wait_for(store_->remove(as("anna"), "resp_1"))), ErrorKind::NotFound);
}

TEST_P(ResponseStoreContract, AConversationLivesOnWithEveryChange) {
  ASSERT_TRUE(create("anna", "conv_1"));
  now_ += 20h;
  ASSERT_TRUE(append("anna", "conv_1", {item("msg_1")}));
  now_ += 20h;
  const auto told = wait_for(store_->set_metadata(as("anna"), "conv_1", "{\"a\":\"b\"}"));
  ASSERT_TRUE(told);
  EXPECT_EQ(told->metadata, "{\"a\":\"b\"}");
  EXPECT_EQ(told->expires, now_ + roomy().ttl);
  now_ += 20h;
  ASSERT_TRUE(wait_for(store_->remove_item(as("anna"), "conv_1", "msg_1")));
  now_ += roomy().ttl - 1ms;
  EXPECT_EQ(wait_for(store_->conversation(as("anna"), "conv_1"))->metadata, "{\"a\":\"b\"}");
  now_ += 1ms;
  EXPECT_EQ(ids("anna", "conv_1"), "not_found");
  EXPECT_EQ(kind_of(append("anna", "conv_1", {item("msg_2")})), ErrorKind::NotFound);
  EXPECT_TRUE(create("anna", "conv_1")) << "its id is free again";
  EXPECT_EQ(ids("anna", "conv_1"), "");
}

TEST_P(ResponseStoreContract, WhatRanOutIsRemovedInSteps) {
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(put("anna", answer("resp_" + std::to_string(i))));
  ASSERT_TRUE(create("bob", "conv_1", {item("msg_1")}));
  now_ += 1h;
  ASSERT_TRUE(put("anna", answer("later")));
  const auto remove = [&](std::size_t most) {
    return wait_for(store_->remove_expired(as(""), most)).value();
  };
  EXPECT_EQ(remove(4), 0U);
  now_ = kStart + roomy().ttl;
  EXPECT_EQ(remove(4), 4U);
  EXPECT_EQ(remove(4), 2U);
  EXPECT_EQ(remove(4), 0U);
  EXPECT_TRUE(has("anna", "later"));
}

// --- limits ---

TEST_P(ResponseStoreContract, WhatIsTooLargeIsRefusedAndChangesNothing) {
  relay::ResponseLimits limits = roomy();
  limits.entry_bytes_max = bytes_of(answer("resp_1", 1000));
  open(limits);
  ASSERT_TRUE(put("anna", answer("resp_1", 1000, 'a')));
  EXPECT_EQ(kind_of(put("anna", answer("resp_1", 1001, 'b'))), ErrorKind::PayloadTooLarge);
  EXPECT_EQ((*wait_for(store_->get(as("anna"), "resp_1")))->response, std::string(1000, 'a'));

  EXPECT_EQ(kind_of(create("anna", "conv_1", {item("msg_1", 2000)})), ErrorKind::PayloadTooLarge);
  EXPECT_EQ(ids("anna", "conv_1"), "not_found");
  ASSERT_TRUE(create("anna", "conv_1", {item("msg_1", 100)}));
  EXPECT_EQ(kind_of(append("anna", "conv_1", {item("msg_2", 50), item("msg_3", 1000)})),
            ErrorKind::PayloadTooLarge);
  EXPECT_EQ(ids("anna", "conv_1"), "msg_1 ");
  EXPECT_EQ(kind_of(wait_for(store_->set_metadata(as("anna"), "conv_1", std::string(1000, ' ')))),
            ErrorKind::PayloadTooLarge);
  EXPECT_EQ(wait_for(store_->conversation(as("anna"), "conv_1"))->metadata, "{}");
}

TEST_P(ResponseStoreContract, BeyondAnOwnersBytesItsOldestGo) {
  relay::ResponseLimits limits = roomy();
  limits.entry_bytes_max = bytes_of(answer("r1", 1000));
  limits.owner_bytes_max = 3 * limits.entry_bytes_max;
  open(limits);
  ASSERT_TRUE(put("bob", answer("r0", 1000)));
  for (const char* id : {"r1", "r2", "r3"}) {
    ASSERT_TRUE(put("anna", answer(id, 1000)));
    now_ += 1s;
  }
  ASSERT_TRUE(put("anna", answer("r4", 1000)));
  EXPECT_FALSE(has("anna", "r1"));
  EXPECT_TRUE(has("anna", "r2"));
  EXPECT_TRUE(has("anna", "r4"));
  EXPECT_TRUE(has("bob", "r0"));
}

TEST_P(ResponseStoreContract, BeyondAnOwnersEntriesItsOldestGo) {
  relay::ResponseLimits limits = roomy();
  limits.owner_entries_max = 3;
  open(limits);
  ASSERT_TRUE(create("anna", "conv_1"));
  ASSERT_TRUE(put("anna", answer("r1")));
  ASSERT_TRUE(put("anna", answer("r2")));
  now_ += 1s;
  ASSERT_TRUE(append("anna", "conv_1", {item("msg_1")}));
  ASSERT_TRUE(put("anna", answer("r3")));
  EXPECT_EQ(ids("anna", "conv_1"), "msg_1 ") << "it changed last";
  EXPECT_FALSE(has("anna", "r1"));
  EXPECT_TRUE(has("anna", "r2"));
  now_ += 1s;
  ASSERT_TRUE(put("anna", answer("r4")));
  ASSERT_TRUE(put("anna", answer("r5")));
  EXPECT_EQ(ids("anna", "conv_1"), "not_found") << "it went with its items";
}

TEST_P(ResponseStoreContract, BeyondTheTotalTheOldestOfWhoeverHasMostGo) {
  relay::ResponseLimits limits = roomy();
  const std::size_t one = bytes_of(answer("r1", 1000));
  limits.entry_bytes_max = one;
  limits.owner_bytes_max = 4 * one;
  limits.total_bytes_max = 4 * one;
  open(limits);
  ASSERT_TRUE(put("carl", answer("r0", 1000)));
  for (const char* id : {"r1", "r2", "r3"}) ASSERT_TRUE(put("anna", answer(id, 1000)));
  ASSERT_TRUE(put("bob", answer("r4", 1000)));
  EXPECT_FALSE(has("anna", "r1")) << "anna has most";
  EXPECT_TRUE(has("anna", "r2"));
  EXPECT_TRUE(has("bob", "r4"));
  EXPECT_TRUE(has("carl", "r0")) << "the oldest of all, but its owner has little";
}

TEST_P(ResponseStoreContract, BeyondTheTotalWhatRanOutGoesFirst) {
  relay::ResponseLimits limits = roomy();
  const std::size_t one = bytes_of(answer("r1", 1000));
  limits.entry_bytes_max = one;
  limits.owner_bytes_max = 3 * one;
  limits.total_bytes_max = 3 * one;
  open(limits);
  ASSERT_TRUE(put("bob", answer("r0", 1000)));
  now_ += limits.ttl;
  ASSERT_TRUE(put("anna", answer("r1", 1000)));
  ASSERT_TRUE(put("anna", answer("r2", 1000)));
  ASSERT_TRUE(put("anna", answer("r3", 1000)));
  EXPECT_TRUE(has("anna", "r1"));
  now_ = kStart;
  EXPECT_FALSE(has("bob", "r0")) << "it is gone, not only past its time";
}

TEST_P(ResponseStoreContract, WhatWasJustWrittenStaysEvenIfItIsTheOldest) {
  relay::ResponseLimits limits = roomy();
  limits.owner_entries_max = 2;
  open(limits);
  ASSERT_TRUE(put("anna", answer("r1")));
  ASSERT_TRUE(create("anna", "conv_1"));
  now_ -= 1h;  // another gateway's clock
  relay::StoredResponse response = answer("r2");
  response.conversation_id = "conv_1";
  ASSERT_TRUE(wait_for(store_->put_turn(as("anna"), response, {item("msg_1")})));
  EXPECT_TRUE(has("anna", "r2"));
  EXPECT_EQ(ids("anna", "conv_1"), "msg_1 ");
  EXPECT_FALSE(has("anna", "r1"));
}

TEST_P(ResponseStoreContract, AnItemThatGoesMakesRoom) {
  relay::ResponseLimits limits = roomy();
  limits.entry_bytes_max = 2000;
  open(limits);
  ASSERT_TRUE(create("anna", "conv_1", {item("msg_1", 1000)}));
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(wait_for(store_->remove_item(as("anna"), "conv_1", "msg_1")));
    ASSERT_TRUE(append("anna", "conv_1", {item("msg_1", 1000)}));
  }
}

// --- conversations ---

TEST_P(ResponseStoreContract, ItemsAreListedInBothOrdersAndInPages) {
  ASSERT_TRUE(create("anna", "conv_1", {item("a"), item("b")}));
  ASSERT_TRUE(append("anna", "conv_1", {item("c"), item("d"), item("e")}));
  using enum ItemQuery::Order;
  EXPECT_EQ(ids("anna", "conv_1"), "a b c d e ");
  EXPECT_EQ(ids("anna", "conv_1", {"", 2, OldestFirst}), "a b ...");
  EXPECT_EQ(ids("anna", "conv_1", {"b", 2, OldestFirst}), "c d ...");
  EXPECT_EQ(ids("anna", "conv_1", {"b", 3, OldestFirst}), "c d e ");
  EXPECT_EQ(ids("anna", "conv_1", {"e", 3, OldestFirst}), "");
  EXPECT_EQ(ids("anna", "conv_1", {"", ItemQuery::kAll, NewestFirst}), "e d c b a ");
  EXPECT_EQ(ids("anna", "conv_1", {"d", 2, NewestFirst}), "c b ...");
  EXPECT_EQ(ids("anna", "conv_1", {"c", 2, NewestFirst}), "b a ");
  EXPECT_EQ(ids("anna", "conv_1", {"a", 1, NewestFirst}), "");
  EXPECT_EQ(ids("anna", "conv_1", {"z", 1, NewestFirst}), "not_found");
}

TEST_P(ResponseStoreContract, AnItemIsGotAndRemovedByItsId) {
  ASSERT_TRUE(create("anna", "conv_1", {item("a"), item("b", 20, 'x'), item("c")}));
  EXPECT_EQ(wait_for(store_->item(as("anna"), "conv_1", "b")).value(), item("b", 20, 'x'));
  ASSERT_TRUE(wait_for(store_->remove_item(as("anna"), "conv_1", "b")));
  EXPECT_EQ(ids("anna", "conv_1"), "a c ");
  const auto gone = wait_for(store_->item(as("anna"), "conv_1", "b"));
  EXPECT_EQ(kind_of(gone), ErrorKind::NotFound);
  EXPECT_EQ(kind_of(wait_for(store_->remove_item(as("anna"), "conv_1", "b"))), ErrorKind::NotFound);
  EXPECT_EQ(ids("anna", "conv_1", {"b", 1}), "not_found");
  ASSERT_TRUE(append("anna", "conv_1", {item("b")}));
  EXPECT_EQ(ids("anna", "conv_1"), "a c b ");
}

TEST_P(ResponseStoreContract, AnIdThatIsThereIsRefusedWithAllThatCameWithIt) {
  ASSERT_TRUE(create("anna", "conv_1", {item("a")}));
  EXPECT_EQ(kind_of(append("anna", "conv_1", {item("b"), item("a")})), ErrorKind::InvalidRequest);
  EXPECT_EQ(kind_of(append("anna", "conv_1", {item("b"), item("b")})), ErrorKind::InvalidRequest);
  EXPECT_EQ(ids("anna", "conv_1"), "a ");
  EXPECT_EQ(kind_of(create("anna", "conv_1", {item("z")})), ErrorKind::InvalidRequest);
  EXPECT_EQ(ids("anna", "conv_1"), "a ");
  EXPECT_EQ(kind_of(create("anna", "conv_2", {item("z"), item("z")})), ErrorKind::InvalidRequest);
  EXPECT_EQ(ids("anna", "conv_2"), "not_found");
}

TEST_P(ResponseStoreContract, ATurnIsKeptWholeOrNotAtAll) {
  ASSERT_TRUE(create("anna", "conv_1", {item("a")}));
  relay::StoredResponse response = answer("r1");
  response.conversation_id = "conv_1";
  const auto put_turn = [&](std::vector<ConversationItem> turn) {
    return wait_for(store_->put_turn(as("anna"), response, std::move(turn)));
  };
  EXPECT_EQ(kind_of(put_turn({item("b"), item("a")})), ErrorKind::InvalidRequest);
  EXPECT_FALSE(has("anna", "r1"));
  EXPECT_EQ(ids("anna", "conv_1"), "a ");
  ASSERT_TRUE(put_turn({item("b"), item("c")}));
  EXPECT_TRUE(has("anna", "r1"));
  EXPECT_EQ(ids("anna", "conv_1"), "a b c ");
  response.id = "r2";
  response.conversation_id = "conv_2";
  EXPECT_EQ(kind_of(put_turn({item("b")})), ErrorKind::NotFound);
  EXPECT_FALSE(has("anna", "r2"));
  ASSERT_TRUE(wait_for(store_->remove_conversation(as("anna"), "conv_1")));
  EXPECT_TRUE(has("anna", "r1")) << "an answer outlives its conversation";
}

TEST_P(ResponseStoreContract, AnotherOwnersConversationIsLikeNone) {
  ASSERT_TRUE(create("anna", "conv_1", {item("a")}));
  const std::string told = "Conversation with id 'conv_1' not found.";
  EXPECT_EQ(wait_for(store_->conversation(as("bob"), "conv_1")).error().message, told);
  EXPECT_EQ(wait_for(store_->set_metadata(as("bob"), "conv_1", "{}")).error().message, told);
  EXPECT_EQ(wait_for(store_->remove_conversation(as("bob"), "conv_1")).error().message, told);
  EXPECT_EQ(append("bob", "conv_1", {item("b")}).error().message, told);
  EXPECT_EQ(list("bob", "conv_1").error().message, told);
  EXPECT_EQ(wait_for(store_->item(as("bob"), "conv_1", "a")).error().message, told);
  EXPECT_EQ(wait_for(store_->remove_item(as("bob"), "conv_1", "a")).error().message, told);
  relay::StoredResponse response = answer("r1");
  response.conversation_id = "conv_1";
  EXPECT_EQ(wait_for(store_->put_turn(as("bob"), response, {item("b")})).error().message, told);
  EXPECT_TRUE(create("bob", "conv_1", {item("z")}));
  EXPECT_EQ(ids("anna", "conv_1"), "a ");
}

// --- many at once ---

Task<void> write_turns(relay::ResponseStore& store, net::EventLoop& loop, int worker, int turns,
                       int& failed) {
  const std::string me = std::to_string(worker);
  for (int i = 0; i < turns; ++i) {
    const std::string name = me + "_" + std::to_string(i);
    const relay::StoreCall call(loop, "all", kStart, within(loop));
    relay::StoredResponse response = answer("resp_" + name);
    response.conversation_id = "conv";
    std::vector<ConversationItem> turn{item("in_" + name), item("out_" + name)};
    const auto put = co_await store.put_turn(call, response, std::move(turn));
    const auto got = co_await store.get(call, response.id);
    const relay::StoreCall own(loop, "owner " + me, kStart, within(loop));
    const auto own_put = co_await store.put(own, response);
    if (!put || !got || !own_put) ++failed;
  }
}

TEST_P(ResponseStoreContract, SeveralLoopsWriteAtOnceAndNothingIsLost) {
  constexpr int kWorkers = 4;
  constexpr int kTurns = 40;
  ASSERT_TRUE(create("all", "conv"));
  std::array<int, kWorkers> failed{};
  std::vector<std::thread> threads;
  for (int worker = 0; worker < kWorkers; ++worker) {
    threads.emplace_back([this, worker, &failed] {
      net::EpollLoop loop;
      auto task = write_turns(*store_, loop, worker, kTurns, failed[static_cast<std::size_t>(worker)]);
      net::testing::run_task(loop, std::move(task));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, (std::array<int, kWorkers>{}));
  const auto page = list("all", "conv");
  ASSERT_TRUE(page);
  ASSERT_EQ(page->items.size(), 2U * kWorkers * kTurns);
  std::map<std::string, int> seen;
  for (std::size_t i = 0; i < page->items.size(); i += 2) {
    const std::string name = page->items[i].id.substr(3);
    EXPECT_EQ(page->items[i + 1].id, "out_" + name) << "turns do not mix";
    const std::string worker = name.substr(0, 1);
    EXPECT_EQ(name, worker + "_" + std::to_string(seen[worker]++)) << "in their order";
    EXPECT_TRUE(has("owner " + worker, "resp_" + name));
  }
}

// --- alike ---

// One random call on a store, told as text.
class RandomCalls {
 public:
  explicit RandomCalls(std::uint64_t seed) : random_(seed) {}

  // The same draws for each of the stores.
  std::vector<std::string> next(net::EventLoop& loop, const std::vector<relay::ResponseStore*>& stores) {
    now_ += std::chrono::minutes(random_.below(60));
    const std::string owner(1, static_cast<char>('a' + random_.below(3)));
    const std::string id = "id" + std::to_string(random_.below(6));
    const std::string item_id = "item" + std::to_string(random_.below(5));
    const std::size_t bytes = random_.below(1500);
    const std::uint64_t what = random_.below(12);
    std::vector<ConversationItem> items;
    for (std::uint64_t i = random_.below(3); i > 0; --i) {
      items.push_back(item("item" + std::to_string(random_.below(5)), random_.below(600)));
    }
    ItemQuery query{random_.below(2) == 0 ? "" : item_id, random_.below(4)};
    if (random_.below(2) == 0) query.order = ItemQuery::Order::NewestFirst;
    std::vector<std::string> told;
    for (relay::ResponseStore* const store : stores) {
      const relay::StoreCall call(loop, owner, now_, within(loop));
      told.push_back(std::to_string(what) + " " +
                     ask(loop, *store, call, what, id, item_id, bytes, items, query));
    }
    return told;
  }

 private:
  static std::string text(const Error& error) { return error.message; }
  static std::string text(const Result<>& result) { return result ? "done" : text(result.error()); }
  static std::string text(const relay::Conversation& it) {
    return it.id + it.metadata + std::to_string(it.expires.time_since_epoch().count());
  }
  static std::string text(const std::shared_ptr<const relay::StoredResponse>& it) {
    return it->id + it->response + it->input + it->conversation_id +
           std::to_string(it->expires.time_since_epoch().count());
  }
  static std::string text(const relay::ItemPage& page) {
    std::string all = page.has_more ? "more:" : "all:";
    for (const auto& each : page.items) all += each.id + each.json;
    return all;
  }
  static std::string text(std::size_t number) { return std::to_string(number); }
  template <typename T>
  static std::string text(const Result<T>& result) {
    return result ? text(*result) : text(result.error());
  }

  static std::string ask(net::EventLoop& loop, relay::ResponseStore& store, const relay::StoreCall& call,
                         std::uint64_t what, const std::string& id, const std::string& item_id,
                         std::size_t bytes, const std::vector<ConversationItem>& items,
                         const ItemQuery& query) {
    relay::StoredResponse response = answer(id, bytes);
    response.conversation_id = item_id == "item0" ? "" : "id" + item_id.substr(4);
    switch (what) {
      case 0:
      case 1: return text(wait_for(loop, store.put(call, response)));
      case 2: return text(wait_for(loop, store.put_turn(call, response, items)));
      case 3: return text(wait_for(loop, store.get(call, id)));
      case 4: return text(wait_for(loop, store.remove(call, id)));
      case 5: return text(wait_for(loop, store.create_conversation(call, conversation(id), items)));
      case 6: return text(wait_for(loop, store.conversation(call, id)));
      case 7: return text(wait_for(loop, store.set_metadata(call, id, std::string(bytes / 4, 'm'))));
      case 8: return text(wait_for(loop, store.append_items(call, id, items)));
      case 9: return text(wait_for(loop, store.list_items(call, id, query)));
      case 10: return text(wait_for(loop, store.remove_item(call, id, item_id)));
      default: return text(wait_for(loop, store.remove_expired(call, bytes % 3)));
    }
  }

  Random random_;
  WallTime now_ = kStart;
};

TEST(ResponseStores, MemoryAndSqliteAnswerAlike) {
  const TemporaryFolder folder;
  net::EpollLoop loop;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    // Tight, so that room is made all the time.
    const relay::ResponseLimits limits{.ttl = 24h,
                                       .entry_bytes_max = 2'500,
                                       .owner_bytes_max = 6'000,
                                       .owner_entries_max = 5,
                                       .total_bytes_max = 10'000};
    const auto memory = open_memory("", limits);
    const auto sqlite = open_sqlite(folder.file(std::to_string(seed)), limits);
    RandomCalls calls(seed);
    for (int i = 0; i < 600; ++i) {
      const auto told = calls.next(loop, {memory.get(), sqlite.get()});
      ASSERT_EQ(told[0], told[1]) << "seed " << seed << ", call " << i;
    }
  }
}

}  // namespace
}  // namespace qq::storage
