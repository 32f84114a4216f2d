// What only a file can do, or suffer: other processes, crashes, damage, other hands.
#include "storage/sqlite/sqlite_response_store.h"

#include <gtest/gtest.h>
#include <spawn.h>
#include <sqlite3.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <mutex>

#include "storage/sqlite/response_schema.h"
#include "storage/store_test_support.h"

extern char** environ;

namespace qq::storage {
namespace {

using namespace std::chrono_literals;
using namespace testing_support;

class SqliteResponseStoreTest : public ::testing::Test {
 protected:
  static std::unique_ptr<relay::ResponseStore> open(const std::string& path) {
    auto store = SqliteResponseStore::open(path, roomy(), kStart);
    if (!store) throw std::runtime_error(store.error().message);
    return *std::move(store);
  }
  // Why the file cannot be used; empty if it can.
  static std::string refusal(const std::string& path) {
    const auto store = SqliteResponseStore::open(path, roomy(), kStart);
    if (store) return {};
    EXPECT_EQ(store.error().kind, ErrorKind::Config);
    EXPECT_NE(store.error().message.find(path), std::string::npos) << store.error().message;
    return store.error().message;
  }
  relay::StoreCall as(std::string owner) { return {loop_, std::move(owner), kStart, within(loop_)}; }
  bool put(relay::ResponseStore& store, const std::string& id, std::size_t bytes = 100) {
    return wait_for(loop_, store.put(as("anna"), answer(id, bytes))).has_value();
  }
  bool has(relay::ResponseStore& store, const std::string& id) {
    return wait_for(loop_, store.get(as("anna"), id)).has_value();
  }
  // A number that a statement of SQL yields.
  static std::int64_t ask(const std::string& path, const char* sql) {
    auto database = Database::open(path).value();
    Statement statement = database.prepare(sql).value();
    statement.bind();
    EXPECT_TRUE(statement.step().value());
    return statement.integer(0);
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_.file("responses.db");
  net::EpollLoop loop_;
};

TEST_F(SqliteResponseStoreTest, WhatWasKeptIsThereAfterwards) {
  {
    const auto store = open(path_);
    ASSERT_TRUE(put(*store, "resp_1"));
    std::vector<relay::ConversationItem> items{item("msg_1")};
    ASSERT_TRUE(wait_for(loop_, store->create_conversation(as("anna"), conversation("conv_1"), items)));
  }
  const auto store = open(path_);
  EXPECT_TRUE(has(*store, "resp_1"));
  EXPECT_EQ(wait_for(loop_, store->list_items(as("anna"), "conv_1", {}))->items.size(), 1U);
}

TEST_F(SqliteResponseStoreTest, TheFilesAreForTheirOwnerOnly) {
  const auto store = open(path_);
  ASSERT_TRUE(put(*store, "resp_1"));
  for (const char* suffix : {"", "-wal", "-shm"}) {
    struct stat status{};
    ASSERT_EQ(::stat((path_ + suffix).c_str(), &status), 0) << suffix;
    EXPECT_EQ(status.st_mode & 0777U, 0600U) << suffix;
  }
}

TEST_F(SqliteResponseStoreTest, ACrashLosesNothingThatWasKept) {
  const auto store = open(path_);
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(put(*store, "resp_" + std::to_string(i)));
  // As a process leaves its files that is killed: nothing closed, the log not yet in the database.
  const std::string copy = folder_.file("copy.db");
  std::filesystem::copy_file(path_, copy);
  std::filesystem::copy_file(path_ + "-wal", copy + "-wal");
  ASSERT_GT(std::filesystem::file_size(copy + "-wal"), 0U);
  const auto reopened = open(copy);
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(has(*reopened, "resp_" + std::to_string(i))) << i;
  EXPECT_TRUE(put(*reopened, "resp_new"));
}

TEST_F(SqliteResponseStoreTest, ALogThatBreaksOffLosesItsEndOnly) {
  const auto store = open(path_);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(put(*store, "resp_" + std::to_string(i), 10'000));
  const std::string copy = folder_.file("copy.db");
  for (const std::uintmax_t cut : {1U, 5'000U, 50'000U}) {
    std::filesystem::copy_file(path_, copy);
    std::filesystem::copy_file(path_ + "-wal", copy + "-wal");
    std::filesystem::resize_file(copy + "-wal", std::filesystem::file_size(copy + "-wal") - cut);
    {
      const auto reopened = open(copy);
      EXPECT_TRUE(has(*reopened, "resp_0")) << cut;
      EXPECT_FALSE(has(*reopened, "resp_19")) << cut;
      bool missing = false;
      for (int i = 0; i < 20; ++i) {
        const bool there = has(*reopened, "resp_" + std::to_string(i));
        EXPECT_FALSE(missing && there) << "no gaps";
        missing = !there;
      }
    }
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(copy + suffix);
  }
}

TEST_F(SqliteResponseStoreTest, TwoStoresOnOneFileSeeEachOthersAnswers) {
  const auto one = open(path_);
  const auto other = open(path_);
  ASSERT_TRUE(put(*one, "resp_1"));
  EXPECT_TRUE(has(*other, "resp_1"));
  ASSERT_TRUE(put(*other, "resp_1", 200));
  EXPECT_EQ((*wait_for(loop_, one->get(as("anna"), "resp_1")))->response.size(), 200U);
}

// Runs in a process of its own, at the same time as its parent's writes; leaves without closing anything.
TEST_F(SqliteResponseStoreTest, DISABLED_OtherProcess) {
  const char* const path = std::getenv("QQ_TEST_STORE");
  ASSERT_NE(path, nullptr);
  const auto store = open(path);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(put(*store, "theirs_" + std::to_string(i)));
  ::_exit(0);
}

TEST_F(SqliteResponseStoreTest, TwoProcessesWriteOneFile) {
  ::setenv("QQ_TEST_STORE", path_.c_str(), 1);
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  std::string filter = "--gtest_filter=SqliteResponseStoreTest.DISABLED_OtherProcess";
  std::string disabled = "--gtest_also_run_disabled_tests";
  std::string brief = "--gtest_brief=1";
  std::string no_report = "--gtest_output=";
  std::string name = self;
  char* const arguments[] = {name.data(),  filter.data(),    disabled.data(),
                             brief.data(), no_report.data(), nullptr};
  pid_t child = 0;
  // Both make the file: the schema is made once.
  ASSERT_EQ(::posix_spawn(&child, self.c_str(), nullptr, nullptr, arguments, environ), 0);
  ::unsetenv("QQ_TEST_STORE");
  {
    const auto store = open(path_);
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(put(*store, "ours_" + std::to_string(i))) << i;
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    for (int i = 0; i < 100; ++i) {
      EXPECT_TRUE(has(*store, "ours_" + std::to_string(i))) << i;
      EXPECT_TRUE(has(*store, "theirs_" + std::to_string(i))) << i;
    }
  }
  EXPECT_EQ(ask(path_, "SELECT entries FROM owners"), 200);
  EXPECT_EQ(ask(path_, "SELECT (SELECT sum(bytes) FROM entries) - (SELECT bytes FROM totals)"), 0);
  EXPECT_EQ(ask(path_, "SELECT count(*) FROM schema_migrations"),
            static_cast<std::int64_t>(kResponseMigrations.size()));
}

TEST_F(SqliteResponseStoreTest, WhatIsRemovedLeavesNoRowBehind) {
  {
    const auto store = open(path_);
    for (int i = 0; i < 9; ++i) ASSERT_TRUE(put(*store, "resp_" + std::to_string(i), 100'000));
    relay::StoredResponse with_item = answer("resp_9", 100'000);
    with_item.item_ids = {"msg_9"};
    ASSERT_TRUE(wait_for(loop_, store->put(as("anna"), with_item)));
    std::vector<relay::ConversationItem> items{item("msg_1"), item("msg_2")};
    ASSERT_TRUE(wait_for(loop_, store->create_conversation(as("anna"), conversation("conv_1"), items)));
    relay::StoreCall later = as("");
    later.now = kStart + roomy().ttl;
    EXPECT_EQ(wait_for(loop_, store->remove_expired(later, 100)).value(), 11U);
  }
  for (const char* table : {"entries", "inputs", "items", "owners", "answer_items"}) {
    EXPECT_EQ(ask(path_, (std::string("SELECT count(*) FROM ") + table).c_str()), 0) << table;
  }
  EXPECT_EQ(ask(path_, "SELECT bytes FROM totals"), 0);
  EXPECT_LT(std::filesystem::file_size(path_), 200'000U) << "the room goes back to the system";
}

TEST_F(SqliteResponseStoreTest, AMissingFolderIsSaid) {
  EXPECT_NE(refusal(folder_.file("none/responses.db")).find("its folder must exist"), std::string::npos);
  EXPECT_NE(refusal(folder_.path()).find("Is a directory"), std::string::npos);
}

TEST_F(SqliteResponseStoreTest, AFileOfSomethingElseIsLeftAlone) {
  std::ofstream(path_) << std::string(5'000, 'x');
  EXPECT_NE(refusal(path_).find("not a database"), std::string::npos);
  EXPECT_EQ(std::filesystem::file_size(path_), 5'000U);

  const std::string other = folder_.file("other.db");
  ASSERT_TRUE(Database::open(other).value().run("CREATE TABLE theirs (x)"));
  EXPECT_NE(refusal(other).find("a database of something else"), std::string::npos);
  EXPECT_EQ(ask(other, "SELECT count(*) FROM sqlite_schema"), 1);
}

TEST_F(SqliteResponseStoreTest, AFileOfANewerQueqiaoIsLeftAlone) {
  open(path_).reset();
  ASSERT_TRUE(Database::open(path_).value().run("INSERT INTO schema_migrations VALUES (99, 'later', 0)"));
  EXPECT_NE(refusal(path_).find("newer"), std::string::npos);
}

TEST_F(SqliteResponseStoreTest, AFileThatMayOnlyBeReadIsSaidAtOnce) {
  open(path_).reset();
  ::chmod(path_.c_str(), 0444);
  ::chmod(folder_.path().c_str(), 0777);
  // Root may write anything, so this thread becomes somebody else for its files.
  const bool root = ::geteuid() == 0;
  if (root) ::setfsuid(65534);
  const std::string why = refusal(path_);
  if (root) ::setfsuid(0);
  EXPECT_NE(why.find("Permission denied"), std::string::npos) << why;
}

TEST_F(SqliteResponseStoreTest, ADamagedFileIsAnErrorAndNoCrash) {
  {
    const auto store = open(path_);
    for (int i = 0; i < 50; ++i) ASSERT_TRUE(put(*store, "resp_" + std::to_string(i), 10'000));
  }
  {
    // All pages but the first, which has the schema's beginning.
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096);
    const std::string noise(std::filesystem::file_size(path_) - 4096, '\x5a');
    file.write(noise.data(), static_cast<std::streamsize>(noise.size()));
  }
  std::mutex mutex;
  std::vector<std::string> reported;
  const auto report = [&](std::string_view what) {
    const std::lock_guard lock(mutex);
    reported.emplace_back(what);
  };
  const auto store = SqliteResponseStore::open(path_, roomy(), kStart, report);
  if (!store) {
    EXPECT_EQ(store.error().kind, ErrorKind::Config);
    EXPECT_NE(store.error().message.find(path_), std::string::npos) << store.error().message;
    return;
  }
  const auto got = wait_for(loop_, (*store)->get(as("anna"), "resp_7"));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().kind, ErrorKind::Internal);
  EXPECT_EQ(got.error().message.find(path_), std::string::npos) << got.error().message;
  EXPECT_FALSE(wait_for(loop_, (*store)->get(as("anna"), "resp_8")));
  const std::lock_guard lock(mutex);
  ASSERT_EQ(reported.size(), 1U) << "once in ten seconds";
  EXPECT_NE(reported.front().find(path_ + " is damaged"), std::string::npos) << reported.front();
}

TEST_F(SqliteResponseStoreTest, AFileWithoutItsTablesTellsItsPathToTheOperatorOnly) {
  std::mutex mutex;
  std::string reported;
  const auto report = [&](std::string_view what) {
    const std::lock_guard lock(mutex);
    reported = what;
  };
  auto store = SqliteResponseStore::open(path_, roomy(), kStart, report).value();
  ASSERT_TRUE(Database::open(path_).value().run("DROP TABLE answer_items; DROP TABLE inputs"));
  const auto got = wait_for(loop_, store->get(as("anna"), "resp_1"));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().kind, ErrorKind::Internal);
  EXPECT_EQ(got.error().message, "the store of responses failed");
  const std::lock_guard lock(mutex);
  EXPECT_NE(reported.find(path_), std::string::npos) << reported;
}

TEST_F(SqliteResponseStoreTest, AWaitHasAnEndWhateverItsScopeSays) {
  const auto store = open(path_);
  auto holder = Database::open(path_).value();
  const auto writing = Transaction::begin(holder);
  ASSERT_TRUE(writing);
  relay::StoreCall call = as("anna");
  call.scope = net::testing::within(loop_, 1ms);
  EXPECT_EQ(wait_for(loop_, store->put(call, answer("resp_1"))).error().kind, ErrorKind::TotalTimeout);
  EXPECT_FALSE(has(*store, "resp_1")) << "reading does not wait for the writer";
}

}  // namespace
}  // namespace qq::storage
