#include "config/file_watch.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>

#include "config/debounce.h"

namespace qq::config {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr MonotonicTime kStart{1h};

TEST(Debounce, WaitsUntilABurstIsOver) {
  Debounce debounce(200ms);
  EXPECT_EQ(debounce.due_at(), std::nullopt);
  EXPECT_FALSE(debounce.take(kStart));
  debounce.note(kStart);
  debounce.note(kStart + 150ms);
  EXPECT_EQ(debounce.due_at(), kStart + 350ms);
  EXPECT_FALSE(debounce.take(kStart + 349ms));
  EXPECT_TRUE(debounce.take(kStart + 350ms));
  EXPECT_FALSE(debounce.take(kStart + 10s)) << "once for each burst";
}

TEST(Debounce, EventsWithoutAPauseCannotPutItOffForEver) {
  Debounce debounce(200ms);
  auto now = kStart;
  for (; now < kStart + 2s; now += 100ms) {
    debounce.note(now);
    EXPECT_FALSE(debounce.take(now));
  }
  EXPECT_TRUE(debounce.take(now));
}

class FileWatchTest : public ::testing::Test {
 protected:
  FileWatchTest() { write(path_, "one"); }
  ~FileWatchTest() override { fs::remove_all(folder_); }
  static void write(const std::string& path, std::string_view text) {
    std::ofstream(path, std::ios::binary) << text;
  }

  std::string folder_ = [] {
    std::string name = fs::temp_directory_path() / "queqiao-watch-XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    return name;
  }();
  std::string path_ = folder_ + "/queqiao.yaml";
};

TEST_F(FileWatchTest, SeesNothingWhereNothingHappens) {
  auto watch = FileWatch::open(path_).value();
  pollfd fd{watch.fd(), POLLIN, 0};
  EXPECT_EQ(poll(&fd, 1, 0), 0);
  EXPECT_FALSE(watch.drain());
}

TEST_F(FileWatchTest, SeesAWrite) {
  auto watch = FileWatch::open(path_).value();
  write(path_, "two");
  pollfd fd{watch.fd(), POLLIN, 0};
  EXPECT_EQ(poll(&fd, 1, 0), 1);
  EXPECT_TRUE(watch.drain());
  EXPECT_FALSE(watch.drain()) << "drained";
}

TEST_F(FileWatchTest, AFileThatIsStillWrittenDoesNotCount) {
  auto watch = FileWatch::open(path_).value();
  fs::remove(path_);
  std::ofstream out(path_);
  out << "half" << std::flush;
  EXPECT_FALSE(watch.drain());
  out.close();
  EXPECT_TRUE(watch.drain());
}

TEST_F(FileWatchTest, SeesAReplacementByRename) {
  auto watch = FileWatch::open(path_).value();
  write(folder_ + "/.queqiao.yaml.swp", "two");
  EXPECT_FALSE(watch.drain()) << "another file of the folder";
  fs::rename(folder_ + "/.queqiao.yaml.swp", path_);
  EXPECT_TRUE(watch.drain());
  write(path_, "three");
  EXPECT_TRUE(watch.drain()) << "the new file is watched as well";
}

TEST_F(FileWatchTest, SeesALinkThatLeadsElsewhere) {
  // How Kubernetes mounts a ConfigMap: queqiao.yaml → ..data/queqiao.yaml, and ..data is swapped.
  fs::remove(path_);
  fs::create_directory(folder_ + "/v1");
  fs::create_directory(folder_ + "/v2");
  write(folder_ + "/v1/queqiao.yaml", "one");
  write(folder_ + "/v2/queqiao.yaml", "two");
  fs::create_directory_symlink("v1", folder_ + "/..data");
  fs::create_symlink("..data/queqiao.yaml", path_);
  auto watch = FileWatch::open(path_).value();
  EXPECT_FALSE(watch.drain());
  fs::create_directory_symlink("v2", folder_ + "/..data_tmp");
  fs::rename(folder_ + "/..data_tmp", folder_ + "/..data");
  EXPECT_TRUE(watch.drain());
  write(folder_ + "/v2/queqiao.yaml", "three");
  EXPECT_TRUE(watch.drain()) << "the file behind the links is watched";
  write(folder_ + "/v1/queqiao.yaml", "old");
  EXPECT_FALSE(watch.drain()) << "the file that was left is not";
}

TEST_F(FileWatchTest, SeesAFileThatComesLater) {
  fs::remove(path_);
  auto watch = FileWatch::open(path_).value();
  write(path_, "new");
  EXPECT_TRUE(watch.drain());
}

TEST_F(FileWatchTest, SaysThatAFolderIsMissing) {
  const auto watch = FileWatch::open(folder_ + "/none/queqiao.yaml");
  ASSERT_FALSE(watch.has_value());
  EXPECT_EQ(watch.error().kind, ErrorKind::Config);
}

TEST_F(FileWatchTest, TheThreadCallsBackAfterABurst) {
  std::mutex mutex;
  std::condition_variable called;
  int calls = 0;
  FileWatcher watcher(
      FileWatch::open(path_).value(),
      [&] {
        const std::lock_guard lock(mutex);
        ++calls;
        called.notify_all();
      },
      50ms);
  for (int i = 0; i < 20; ++i) write(path_, "x");
  std::unique_lock lock(mutex);
  EXPECT_TRUE(called.wait_for(lock, 10s, [&] { return calls > 0; }));
}

TEST_F(FileWatchTest, TheThreadStopsAtOnce) {
  const FileWatcher watcher(FileWatch::open(path_).value(), [] { ADD_FAILURE() << "nothing changed"; }, 1h);
}

}  // namespace
}  // namespace qq::config
