// What every HoldingStore promises, run on each implementation.
#include <gtest/gtest.h>

#include "net/epoll_loop.h"
#include "relay/held/holding_store.h"
#include "storage/memory/memory_holding_store.h"
#include "storage/sqlite/response_rows.h"
#include "storage/sqlite/sqlite_holding_store.h"
#include "storage/store_test_support.h"

namespace qq::storage {
namespace {

using namespace std::chrono_literals;
using namespace testing_support;
using relay::Holder;
using relay::Holding;
using relay::HoldingKind;
using relay::HoldingQuery;

using OpenHoldings = std::unique_ptr<relay::HoldingStore> (*)(const std::string& path,
                                                              const relay::HoldingLimits& limits);
struct HoldingStoreKind {
  const char* name;
  OpenHoldings open;
  bool outlives_itself;
};

std::unique_ptr<relay::HoldingStore> open_memory_holdings(const std::string&,
                                                          const relay::HoldingLimits& limits) {
  return std::make_unique<MemoryHoldingStore>(limits);
}
std::unique_ptr<relay::HoldingStore> open_sqlite_holdings(const std::string& path,
                                                          const relay::HoldingLimits& limits) {
  return SqliteHoldingStore::open(path, limits, kStart).value();
}

constexpr relay::HoldingLimits kRoomy{.ttl = std::chrono::hours(24), .owner_entries_max = 1'000};

Holding file(std::string id, std::string account = "openai/main", std::string purpose = "batch") {
  Holding made;
  made.id = std::move(id);
  made.account = std::move(account);
  made.purpose = std::move(purpose);
  made.object = "{}";
  return made;
}

class HoldingStoreContract : public ::testing::TestWithParam<HoldingStoreKind> {
 protected:
  void open(const relay::HoldingLimits& limits) {
    store_ = nullptr;
    store_ = GetParam().open(folder_.file("objects.db"), limits);
  }
  void SetUp() override { open(kRoomy); }

  relay::StoreCall as(std::string owner) { return {loop_, std::move(owner), now_, within(loop_)}; }
  template <typename T>
  T wait_for(Task<T> task) {
    return testing_support::wait_for(loop_, std::move(task));
  }
  void put(const std::string& owner, Holding holding) {
    const Result<> done = wait_for(store_->put(as(owner), std::move(holding)));
    ASSERT_TRUE(done) << done.error().message;
  }
  bool has(const std::string& owner, const std::string& id, HoldingKind kind = HoldingKind::File) {
    return wait_for(store_->get(as(owner), kind, id)).has_value();
  }
  bool has_room(const std::string& owner) { return wait_for(store_->has_room(as(owner))).value(); }
  bool settle(const std::string& owner, const std::string& id) {
    return wait_for(store_->settle(as(owner), HoldingKind::Batch, id)).value();
  }
  Holder::Who who(const std::string& asks, const std::string& id) {
    return wait_for(store_->holder(as(asks), HoldingKind::File, id)).value().who;
  }
  // "b a ..." of a page, or the error's kind.
  std::string ids(const std::string& owner, HoldingQuery query = {}) {
    const auto page = wait_for(store_->list(as(owner), std::move(query)));
    if (!page) return std::string(to_string(page.error().kind));
    std::string all;
    for (const Holding& holding : page->holdings) all += holding.id + " ";
    return all + (page->has_more ? "..." : "");
  }

  TemporaryFolder folder_;
  net::EpollLoop loop_;
  WallTime now_ = kStart;
  std::unique_ptr<relay::HoldingStore> store_;
};

INSTANTIATE_TEST_SUITE_P(Stores, HoldingStoreContract,
                         ::testing::Values(HoldingStoreKind{"Memory", open_memory_holdings, false},
                                           HoldingStoreKind{"Sqlite", open_sqlite_holdings, true}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(HoldingStoreContract, WhatWasPutIsGot) {
  Holding made = file("file-1");
  // Texts come back byte for byte, whatever they hold.
  made.object = std::string("{\"a'\0b\xff\"}", 10);
  made.models = R"(["gpt"])";
  put("anna", made);
  made.created = kStart;
  const auto got = wait_for(store_->get(as("anna"), HoldingKind::File, "file-1"));
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(*got, made);
}

TEST_P(HoldingStoreContract, AnotherOwnersIsAnsweredLikeWhatDoesNotExist) {
  put("anna", file("file-1"));
  const auto others = wait_for(store_->get(as("bert"), HoldingKind::File, "file-1"));
  const auto nobodys = wait_for(store_->get(as("bert"), HoldingKind::File, "file-2"));
  ASSERT_FALSE(others);
  ASSERT_FALSE(nobodys);
  EXPECT_EQ(others.error().kind, ErrorKind::NotFound);
  EXPECT_EQ(others.error().message, "No such file: file-1");
  EXPECT_EQ(nobodys.error().message, "No such file: file-2");
  EXPECT_EQ(wait_for(store_->remove(as("bert"), HoldingKind::File, "file-1")).error().kind,
            ErrorKind::NotFound);
  EXPECT_TRUE(has("anna", "file-1"));
  EXPECT_EQ(ids("bert"), "");
}

TEST_P(HoldingStoreContract, TheSameIdMayStandUnderSeveralOwnersAndKinds) {
  put("anna", file("x", "openai/a"));
  put("bert", file("x", "openai/b"));
  Holding batch = file("x", "openai/c");
  batch.kind = HoldingKind::Batch;
  put("anna", batch);
  EXPECT_EQ(wait_for(store_->get(as("anna"), HoldingKind::File, "x"))->account, "openai/a");
  EXPECT_EQ(wait_for(store_->get(as("bert"), HoldingKind::File, "x"))->account, "openai/b");
  EXPECT_EQ(wait_for(store_->get(as("anna"), HoldingKind::Batch, "x"))->account, "openai/c");
  EXPECT_FALSE(has("bert", "x", HoldingKind::Batch));
}

TEST_P(HoldingStoreContract, WhatIsPutAgainKeepsItsPlaceAndItsObjectIfNothingIsSaid) {
  put("anna", file("a"));
  put("anna", file("b"));
  now_ += 1s;
  Holding again = file("a", "openai/other", "user_data");
  again.object.clear();
  put("anna", again);
  EXPECT_EQ(ids("anna"), "b a ");
  const auto got = wait_for(store_->get(as("anna"), HoldingKind::File, "a"));
  EXPECT_EQ(got->object, "{}");
  EXPECT_EQ(got->account, "openai/other");
  EXPECT_EQ(got->purpose, "user_data");
  EXPECT_EQ(got->created, kStart);
}

TEST_P(HoldingStoreContract, AnUpdateReplacesAndRenewsButMakesNothing) {
  Holding made = file("a");
  made.models = R"(["m"])";
  put("anna", made);
  now_ += kRoomy.ttl / 2;
  Holding said = file("a", "openai/main", "batch");
  said.object = R"({"status":"processed"})";
  ASSERT_TRUE(wait_for(store_->update(as("anna"), said)));
  now_ += kRoomy.ttl / 2;
  const auto got = wait_for(store_->get(as("anna"), HoldingKind::File, "a"));
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->object, said.object);
  EXPECT_EQ(got->models, made.models) << "nothing was said of them";
  EXPECT_EQ(got->created, kStart);
  EXPECT_EQ(wait_for(store_->update(as("bert"), said)).error().kind, ErrorKind::NotFound);
  ASSERT_TRUE(wait_for(store_->remove(as("anna"), HoldingKind::File, "a")));
  EXPECT_EQ(wait_for(store_->update(as("anna"), said)).error().kind, ErrorKind::NotFound);
  EXPECT_FALSE(has("anna", "a"));
}

TEST_P(HoldingStoreContract, WhatIsRemovedIsGone) {
  put("anna", file("a"));
  ASSERT_TRUE(wait_for(store_->remove(as("anna"), HoldingKind::File, "a")));
  EXPECT_FALSE(has("anna", "a"));
  EXPECT_EQ(wait_for(store_->remove(as("anna"), HoldingKind::File, "a")).error().kind, ErrorKind::NotFound);
  EXPECT_EQ(who("bert", "a"), Holder::Who::Nobody);
}

TEST_P(HoldingStoreContract, ListsAreOfOneOwnerAndKindInTheOrderOfMaking) {
  for (const char* id : {"a", "b", "c", "d"}) put("anna", file(id));
  put("bert", file("e"));
  Holding batch = file("f");
  batch.kind = HoldingKind::Batch;
  put("anna", batch);
  HoldingQuery query;
  EXPECT_EQ(ids("anna", query), "d c b a ");
  query.limit = 2;
  EXPECT_EQ(ids("anna", query), "d c ...");
  query.after = "c";
  EXPECT_EQ(ids("anna", query), "b a ");
  query.order = HoldingQuery::Order::OldestFirst;
  EXPECT_EQ(ids("anna", query), "d ");
  query.after.clear();
  EXPECT_EQ(ids("anna", query), "a b ...");
  query.after = "e";
  EXPECT_EQ(ids("anna", query), "not_found") << "bert's";
}

TEST_P(HoldingStoreContract, ListsMayBeOfOnePurpose) {
  put("anna", file("a", "openai/main", "batch"));
  put("anna", file("b", "openai/main", "user_data"));
  put("anna", file("c", "openai/main", "batch"));
  HoldingQuery query;
  query.purpose = "batch";
  query.limit = 1;
  EXPECT_EQ(ids("anna", query), "c ...");
  query.after = "c";
  EXPECT_EQ(ids("anna", query), "a ");
}

TEST_P(HoldingStoreContract, SaysWhoHasAnIdWithoutSayingWho) {
  put("anna", file("a", "openai/main"));
  EXPECT_EQ(who("anna", "a"), Holder::Who::Caller);
  EXPECT_EQ(wait_for(store_->holder(as("anna"), HoldingKind::File, "a"))->account, "openai/main");
  EXPECT_EQ(who("bert", "a"), Holder::Who::Others);
  EXPECT_EQ(wait_for(store_->holder(as("bert"), HoldingKind::File, "a"))->account, "");
  EXPECT_EQ(who("bert", "b"), Holder::Who::Nobody);
  put("zoe", file("a"));
  EXPECT_EQ(who("anna", "a"), Holder::Who::Caller) << "one's own counts first";
  EXPECT_EQ(who("zoe", "a"), Holder::Who::Caller);
}

TEST_P(HoldingStoreContract, UsageIsSettledOnce) {
  Holding batch = file("batch_1");
  batch.kind = HoldingKind::Batch;
  put("anna", batch);
  EXPECT_FALSE(settle("bert", "batch_1"));
  EXPECT_TRUE(settle("anna", "batch_1"));
  EXPECT_FALSE(settle("anna", "batch_1"));
  put("anna", batch);
  EXPECT_FALSE(settle("anna", "batch_1")) << "also when it was read again";
  EXPECT_FALSE(settle("anna", "batch_2"));
}

TEST_P(HoldingStoreContract, WhatRanOutDoesNotExist) {
  put("anna", file("a"));
  now_ += kRoomy.ttl - 1ms;
  EXPECT_TRUE(has("anna", "a"));
  now_ += 1ms;
  EXPECT_FALSE(has("anna", "a"));
  EXPECT_EQ(ids("anna"), "");
  EXPECT_EQ(who("anna", "a"), Holder::Who::Nobody);
  EXPECT_EQ(who("bert", "a"), Holder::Who::Nobody);
  EXPECT_FALSE(wait_for(store_->remove(as("anna"), HoldingKind::File, "a")));
}

TEST_P(HoldingStoreContract, PuttingAgainRenewsAndAfterItsEndMakesAnother) {
  put("anna", file("a"));
  put("anna", file("b"));
  now_ += kRoomy.ttl / 2;
  put("anna", file("a"));
  now_ += kRoomy.ttl / 2;
  EXPECT_TRUE(has("anna", "a"));
  EXPECT_FALSE(has("anna", "b"));
  put("anna", file("b"));
  EXPECT_EQ(ids("anna"), "b a ");
  EXPECT_EQ(wait_for(store_->get(as("anna"), HoldingKind::File, "b"))->created, now_);
}

TEST_P(HoldingStoreContract, ExpiredAreRemovedInSteps) {
  for (const char* id : {"a", "b", "c"}) put("anna", file(id));
  now_ += 1h;
  put("anna", file("d"));
  now_ = kStart + kRoomy.ttl;
  EXPECT_EQ(wait_for(store_->remove_expired(as(""), 2)).value(), 2U);
  EXPECT_EQ(wait_for(store_->remove_expired(as(""), 2)).value(), 1U);
  EXPECT_EQ(wait_for(store_->remove_expired(as(""), 2)).value(), 0U);
  EXPECT_TRUE(has("anna", "d"));
}

TEST_P(HoldingStoreContract, AnOwnerHasRoomForSoMany) {
  open({.ttl = 1h, .owner_entries_max = 2});
  EXPECT_TRUE(has_room("anna"));
  put("anna", file("a"));
  EXPECT_TRUE(has_room("anna"));
  put("anna", file("b"));
  EXPECT_FALSE(has_room("anna"));
  EXPECT_TRUE(has_room("bert"));
  put("anna", file("c"));  // a batch has left it behind
  EXPECT_TRUE(has("anna", "a")) << "what was made stays";
  EXPECT_TRUE(has("anna", "c"));
  now_ += 1h;
  EXPECT_TRUE(has_room("anna"));
}

TEST_P(HoldingStoreContract, OnlyAStoreThatSeesAllCanSayThatItHasNothing) {
  EXPECT_EQ(store_->may_hold_any(), GetParam().outlives_itself);
  put("anna", file("a"));
  EXPECT_TRUE(store_->may_hold_any());
  ASSERT_TRUE(wait_for(store_->remove(as("anna"), HoldingKind::File, "a")));
  EXPECT_EQ(store_->may_hold_any(), GetParam().outlives_itself);
}

TEST_P(HoldingStoreContract, AFileIsReadByTheNextProcess) {
  if (!GetParam().outlives_itself) GTEST_SKIP();
  put("anna", file("a", "openai/second"));
  Holding batch = file("batch_1");
  batch.kind = HoldingKind::Batch;
  put("anna", batch);
  EXPECT_TRUE(settle("anna", "batch_1"));
  open(kRoomy);
  EXPECT_EQ(wait_for(store_->get(as("anna"), HoldingKind::File, "a"))->account, "openai/second");
  EXPECT_FALSE(settle("anna", "batch_1"));
}

TEST(HoldingStoreFile, AFileOfAnotherKindIsRefused) {
  TemporaryFolder folder;
  ASSERT_TRUE(HoldingRows::open(folder.file("a.db"), kRoomy, kStart));
  EXPECT_TRUE(SqliteHoldingStore::open(folder.file("a.db"), kRoomy, kStart));
  ASSERT_TRUE(ResponseRows::open(folder.file("responses.db"), {}, kStart));
  const auto other = SqliteHoldingStore::open(folder.file("responses.db"), kRoomy, kStart);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind, ErrorKind::Config);
  const auto missing = SqliteHoldingStore::open(folder.file("no/a.db"), kRoomy, kStart);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::Config);
}

}  // namespace
}  // namespace qq::storage
