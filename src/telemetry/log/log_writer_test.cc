#include "telemetry/log/log_writer.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "telemetry/testing/captured_log.h"

namespace qq::telemetry {
namespace {

using Clock = std::chrono::steady_clock;

// A reader that reads only when told.
class Pipe {
 public:
  Pipe() { EXPECT_EQ(::pipe2(ends_.data(), O_CLOEXEC), 0); }
  ~Pipe() {
    close_reader();
    ::close(ends_[1]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  [[nodiscard]] int writer() const { return ends_[1]; }
  void close_reader() {
    if (ends_[0] >= 0) ::close(ends_[0]);
    ends_[0] = -1;
  }
  // What arrives until `until` has been seen, or nothing came for five seconds.
  std::string read_until(std::string_view until) {
    std::string text;
    while (text.find(until) == std::string::npos) {
      pollfd ready{ends_[0], POLLIN, 0};
      if (::poll(&ready, 1, 5'000) <= 0) break;
      std::array<char, 65'536> buffer;
      const ssize_t n = ::read(ends_[0], buffer.data(), buffer.size());
      if (n <= 0) break;
      text.append(buffer.data(), static_cast<std::size_t>(n));
    }
    return text;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

// A pipe with a name.
class NamedPipe {
 public:
  explicit NamedPipe(std::string path) : path_(std::move(path)) {
    ::unlink(path_.c_str());
    EXPECT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  }
  ~NamedPipe() {
    if (reader_ >= 0) ::close(reader_);
    ::unlink(path_.c_str());
  }
  NamedPipe(const NamedPipe&) = delete;
  NamedPipe& operator=(const NamedPipe&) = delete;
  // A reader that never reads.
  void open_reader() {
    reader_ = ::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    EXPECT_GE(reader_, 0);
  }

 private:
  std::string path_;
  int reader_ = -1;
};

// No file of the process grows beyond `bytes`: what a write puts beyond is cut off, and the next one fails,
// as on a full disk.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    EXPECT_EQ(::getrlimit(RLIMIT_FSIZE, &before_), 0);
    const rlimit small{bytes, before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  }
  ~FullDisk() { EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &before_), 0); }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
};

void wait_for_drops(const LogWriter& writer, std::uint64_t drops) {
  while (writer.dropped() < drops) std::this_thread::yield();
}

// What the notes of a log say is missing, in all.
std::uint64_t noted_in(const std::vector<std::string>& lines) {
  std::uint64_t noted = 0;
  for (const std::string& line : lines) {
    const std::size_t at = line.find("\"lines\":");
    if (at != std::string::npos) noted += std::stoull(line.substr(at + 8));
  }
  return noted;
}

std::string long_line(int number) {
  return std::to_string(number) + std::string(1000, '.') + "\n";
}

TEST(LogWriter, WritesEveryRingToTheFileBeforeItStops) {
  CapturedLog captured;
  LogWriter writer(LogSink::to_file(captured.path()), 3);
  writer.push(0, "zero\n");
  writer.push(1, "one\n");
  writer.push(2, "two\n");
  writer.stop();
  EXPECT_THAT(captured.lines(), testing::UnorderedElementsAre("zero", "one", "two"));
}

TEST(LogWriter, WritesOnItsOwnWithoutBeingStopped) {
  Pipe pipe;
  LogWriter writer(LogSink::to_descriptor(pipe.writer()), 1);
  writer.push(0, "hello\n");
  EXPECT_EQ(pipe.read_until("\n"), "hello\n");
}

TEST(LogWriter, DropsAndCountsWhileTheReaderHangsAndNeverBlocksTheProducer) {
  Pipe pipe;
  LogWriter writer(LogSink::to_descriptor(pipe.writer()), 1, 1U << 16U);
  constexpr int kLines = 5'000;  // 5 MB: far more than pipe and ring hold
  const auto begin = Clock::now();
  for (int i = 0; i < kLines; ++i) writer.push(0, long_line(i));
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(2));
  EXPECT_GT(writer.dropped(), 1'000U);

  // The reader comes back: what was kept arrives whole and in order, and notes between the lines say how many
  // are missing. Nothing is lost without being counted.
  int before = -1;
  int whole = 0;
  int noted = 0;
  std::string text;
  while (whole + noted < kLines) {
    const std::size_t end = text.find('\n');
    if (end == std::string::npos) {
      const std::string more = pipe.read_until("\n");
      ASSERT_FALSE(more.empty()) << whole << " lines and " << noted << " noted as dropped";
      text += more;
      continue;
    }
    const std::string line = text.substr(0, end + 1);
    text.erase(0, end + 1);
    if (const std::size_t note = line.find("\"lines\":"); note != std::string::npos) {
      noted += std::stoi(line.substr(note + 8));
      continue;
    }
    const int number = std::stoi(line);
    ASSERT_GT(number, before);
    ASSERT_EQ(line, long_line(number));
    before = number;
    ++whole;
  }
  EXPECT_EQ(static_cast<std::uint64_t>(noted), writer.dropped());
}

TEST(LogWriter, StopsInBoundedTimeWhenTheReaderHangs) {
  Pipe pipe;
  LogWriter writer(LogSink::to_descriptor(pipe.writer()), 1);
  for (int i = 0; i < 500; ++i) writer.push(0, long_line(i));
  const auto begin = Clock::now();
  writer.stop();
  EXPECT_LT(Clock::now() - begin, LogWriter::kStopGrace + std::chrono::seconds(2));
}

TEST(LogWriter, StopsInBoundedTimeWhenTheReaderOfANamedPipeHangs) {
  const CapturedLog place;
  NamedPipe pipe(place.path());
  pipe.open_reader();
  LogSink sink = LogSink::to_file(place.path());
  ASSERT_NE(::fcntl(sink.descriptor(), F_GETFL) & O_NONBLOCK, 0) << "the writer would hang for good";
  LogWriter writer(std::move(sink), 1);
  for (int i = 0; i < 500; ++i) writer.push(0, long_line(i));
  const auto begin = Clock::now();
  writer.stop();
  EXPECT_LT(Clock::now() - begin, LogWriter::kStopGrace + std::chrono::seconds(2));
}

TEST(LogWriter, SurvivesAReaderThatIsGone) {
  Pipe pipe;
  pipe.close_reader();
  LogWriter writer(LogSink::to_descriptor(pipe.writer()), 1);
  writer.push(0, "into the void\n");
  writer.push(0, "and again\n");
  writer.stop();
  EXPECT_EQ(writer.dropped(), 2U);
}

TEST(LogWriter, LeavesTheSharedDescriptorBlocking) {
  Pipe pipe;
  LogWriter writer(LogSink::to_descriptor(pipe.writer()), 1);
  EXPECT_EQ(::fcntl(pipe.writer(), F_GETFL) & O_NONBLOCK, 0);
}

TEST(LogWriter, WritesToASocketWithoutBlockingOnIt) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  {
    LogWriter writer(LogSink::to_descriptor(ends[1]), 1, 1U << 16U);
    for (int i = 0; i < 2'000; ++i) writer.push(0, long_line(i));
    writer.stop();
    EXPECT_GT(writer.dropped(), 0U);
  }
  std::array<char, 4> first{};
  EXPECT_EQ(::read(ends[0], first.data(), first.size()), 4);
  EXPECT_EQ(first[0], '0');
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(LogWriter, OpensTheFileAgainAfterARotation) {
  CapturedLog captured;
  const std::string rotated = captured.path() + ".1";
  LogWriter writer(LogSink::to_file(captured.path()), 1);
  ASSERT_EQ(::rename(captured.path().c_str(), rotated.c_str()), 0);
  writer.reopen();
  // The writer opens the file before it writes what comes after.
  while (::access(captured.path().c_str(), F_OK) != 0) std::this_thread::yield();
  writer.push(0, "after\n");
  writer.stop();
  ::unlink(rotated.c_str());
  EXPECT_THAT(captured.lines(), testing::ElementsAre("after"));
}

TEST(LogWriter, SaysInTheOldFileThatTheNewOneCannotBeOpened) {
  CapturedLog captured;
  const std::string rotated = captured.path() + ".1";
  ASSERT_EQ(::rename(captured.path().c_str(), rotated.c_str()), 0);
  ASSERT_EQ(::link(rotated.c_str(), captured.path().c_str()), 0);
  LogWriter writer(LogSink::to_file(captured.path()), 1);
  ASSERT_EQ(::unlink(captured.path().c_str()), 0);
  ASSERT_EQ(::mkdir(captured.path().c_str(), 0700), 0);
  writer.reopen();
  writer.push(0, "after\n");
  writer.stop();
  ::rmdir(captured.path().c_str());
  ASSERT_EQ(::rename(rotated.c_str(), captured.path().c_str()), 0);
  EXPECT_THAT(captured.lines(),
              testing::UnorderedElementsAre(
                  "after", testing::AllOf(testing::HasSubstr("\"level\":\"error\""),
                                          testing::HasSubstr("the log cannot be opened again"),
                                          testing::HasSubstr(captured.path() + ": Is a directory"))));
}

TEST(LogWriter, SaysHowManyLinesAFullDiskCostOnceThereIsRoom) {
  CapturedLog captured;
  LogWriter writer(LogSink::to_file(captured.path()), 1);
  {
    const FullDisk disk(0);
    writer.push(0, "lost\n");
    wait_for_drops(writer, 1);
    // Between this loss and the first one the writer tried to tell of the first.
    writer.push(0, "lost too\n");
    wait_for_drops(writer, 2);
  }
  writer.push(0, "kept\n");
  writer.stop();
  EXPECT_THAT(captured.lines(), testing::Contains("kept"));
  EXPECT_EQ(noted_in(captured.lines()), 2U);
}

TEST(LogWriter, EndsTheLineThatAFullDiskCutBeforeItWritesTheNext) {
  CapturedLog captured;
  LogWriter writer(LogSink::to_file(captured.path()), 1);
  {
    const FullDisk disk(8);
    writer.push(0, "whole\n");
    writer.push(0, "cut in the middle\n");
    wait_for_drops(writer, 1);
  }
  writer.push(0, "next\n");
  writer.stop();
  const std::vector<std::string> lines = captured.lines();
  ASSERT_GE(lines.size(), 3U);
  EXPECT_EQ(lines[0], "whole");
  EXPECT_EQ(lines[1], "cu");
  EXPECT_THAT(lines, testing::Contains("next"));
  EXPECT_THAT(lines, testing::Not(testing::Contains("")));
}

// The lines of a file that was emptied when a line in it had been cut.
std::vector<std::string> lines_after_emptying() {
  CapturedLog captured;
  LogWriter writer(LogSink::to_file(captured.path()), 1);
  {
    const FullDisk disk(2);
    writer.push(0, "cut in the middle\n");
    wait_for_drops(writer, 1);
    EXPECT_EQ(::truncate(captured.path().c_str(), 0), 0);
  }
  writer.push(0, "next\n");
  writer.stop();
  return captured.lines();
}

TEST(LogWriter, BeginsAFileThatWasEmptiedWithALine) {
  // Rarely the writer has just looked at the file when it is emptied, and ends the line that it saw.
  bool begun_with_a_line = false;
  for (int i = 0; i < 10 && !begun_with_a_line; ++i) {
    const std::vector<std::string> lines = lines_after_emptying();
    begun_with_a_line = std::ranges::find(lines, "") == lines.end();
  }
  EXPECT_TRUE(begun_with_a_line);
}

// In a child process with an alarm: who waits for a reader waits for good.
void open_pipe_without_reader(const std::string& path) {
  ::alarm(10);
  try {
    const LogSink sink = LogSink::to_file(path);
    _exit(2);
  } catch (const std::system_error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    _exit(1);
  }
}

TEST(LogSink, RefusesAPipeThatNobodyReads) {
  const CapturedLog place;
  const NamedPipe pipe(place.path());
  EXPECT_EXIT(open_pipe_without_reader(place.path()), testing::ExitedWithCode(1),
              "log file .*a pipe that nobody reads");
}

TEST(LogSink, RefusesAFileItCannotOpen) {
  EXPECT_THROW(LogSink::to_file("/nonexistent/folder/log"), std::system_error);
}

}  // namespace
}  // namespace qq::telemetry
