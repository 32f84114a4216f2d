#include "config/read_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <thread>

#include "config/load.h"
#include "config/test_environment.h"

namespace qq::config {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class ReadFileTest : public testing::Test {
 protected:
  ReadFileTest() { EXPECT_EQ(::mkfifo(fifo_.c_str(), 0600), 0); }
  ~ReadFileTest() override { std::filesystem::remove_all(folder_); }

  std::string folder_ = [] {
    std::string name = std::filesystem::temp_directory_path() / "queqiao-read-XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    return name;
  }();
  std::string fifo_ = folder_ + "/fifo";
};

TEST_F(ReadFileTest, ReadsAFileUpToOneByteMoreThanAllowed) {
  const std::string path = folder_ + "/file";
  std::ofstream(path) << std::string(100'000, 'x');
  EXPECT_EQ(read_file(path, 100'000)->size(), 100'000U);
  EXPECT_EQ(read_file(path, 40'000)->size(), 40'001U);
}

TEST_F(ReadFileTest, RefusesWhatIsNoFileWithoutWaiting) {
  EXPECT_EQ(read_file(fifo_, 10).error(), "is a pipe, not a file");
  EXPECT_EQ(read_file(folder_, 10).error(), "is a directory, not a file");
  EXPECT_EQ(read_file("/dev/zero", 10).error(), "is a device, not a file");
  EXPECT_EQ(read_file("/dev/zero", 10, Pipes::Await).error(), "is a device, not a file");
  EXPECT_EQ(read_file(folder_ + "/none", 10).error(), "cannot be opened: No such file or directory");
}

TEST_F(ReadFileTest, GivesUpAPipeThatNobodyWritesTo) {
  EXPECT_EQ(read_file(fifo_, 10, Pipes::Await, 0ms).error(), "is a pipe that nobody writes to");
}

TEST_F(ReadFileTest, GivesUpAPipeWithoutAnEnd) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ASSERT_EQ(::write(ends[1], "begun", 5), 5);
  EXPECT_EQ(read_file("/dev/fd/" + std::to_string(ends[0]), 10, Pipes::Await, 0ms).error(),
            "is a pipe that did not end within 0 s");
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(ReadFileTest, ReadsAPipeToItsEnd) {
  const std::string text(200'000, 'x');  // more than a pipe holds, so that its writer has to wait
  std::thread writer([&] { std::ofstream(fifo_) << text; });
  EXPECT_EQ(read_file(fifo_, text.size(), Pipes::Await), text);
  writer.join();
}

TEST_F(ReadFileTest, ReadsWhatAWriterLeftThatIsGone) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ASSERT_EQ(::write(ends[1], "left", 4), 4);
  ::close(ends[1]);
  EXPECT_EQ(read_file("/dev/fd/" + std::to_string(ends[0]), 10, Pipes::Await), "left");
  ::close(ends[0]);
}

TEST_F(ReadFileTest, AConfigurationThatIsAPipeIsRefusedUnlessItIsAwaited) {
  const auto result = load_file(fifo_, test_environment());
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(to_text(result.error().at(0)), fifo_ + ": is a pipe, not a file");
}

TEST_F(ReadFileTest, AnIncludedPipeIsRefused) {
  const auto result = expand("${file:" + fifo_ + "}", Environment::of_process());
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(result.error(), HasSubstr(fifo_ + "} is a pipe, not a file"));
}

TEST_F(ReadFileTest, AnIncludedFileMayNotBeTooLarge) {
  const std::string path = folder_ + "/file";
  std::ofstream(path) << std::string(kMaxIncludedBytes + 1, 'x');
  const auto result = expand("${file:" + path + "}", Environment::of_process());
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(result.error(), HasSubstr("is larger than 64 KiB"));
}

}  // namespace
}  // namespace qq::config
