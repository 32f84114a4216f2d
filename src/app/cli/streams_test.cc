// The process's own descriptors are changed in child processes.
#include "app/cli/streams.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <ostream>

#include "app/cli/command_line.h"

namespace qq::app::cli {
namespace {

int print_a_product() {
  return on_process_streams([](const Streams& streams) {
    streams.out << "the product\n";
    streams.err << "a word about it\n";
    return kGood;
  });
}

void put_in_place_of(int fd, const char* path) {
  ::dup2(::open(path, O_WRONLY), fd);
}

bool is_null_device(int fd) {
  struct stat null{};
  struct stat about{};
  return ::stat("/dev/null", &null) == 0 && ::fstat(fd, &about) == 0 && null.st_rdev == about.st_rdev;
}

TEST(Streams, AProductThatNobodyGotIsAFailure) {
  EXPECT_EXIT(
      {
        put_in_place_of(1, "/dev/full");
        _exit(print_a_product());
      },
      testing::ExitedWithCode(kFailed), "a word about it\n.*could not be written: No space left on device");
}

TEST(Streams, AProductForClosedOutputIsAFailure) {
  EXPECT_EXIT(
      {
        ::close(1);
        open_closed_descriptors();
        _exit(print_a_product());
      },
      testing::ExitedWithCode(kFailed), "could not be written");
}

TEST(Streams, ComplaintsThatNobodyHearsDoNotMatter) {
  EXPECT_EXIT(
      {
        put_in_place_of(2, "/dev/full");
        _exit(print_a_product());
      },
      testing::ExitedWithCode(kGood), "");
}

int ask_for_help() {
  const std::array<const char*, 2> arguments{"queqiao", "--help"};
  const Command command = parse_command_line(2, arguments.data());
  const auto* const exit = std::get_if<ExitNow>(&command);
  return exit != nullptr ? exit->code : 99;
}

TEST(Streams, HelpThatNobodyGotIsAFailure) {
  EXPECT_EXIT(
      {
        put_in_place_of(1, "/dev/full");
        _exit(ask_for_help());
      },
      testing::ExitedWithCode(kFailed), "");
}

TEST(Streams, ClosedDescriptorsBecomeTheNullDevice) {
  EXPECT_EXIT(
      {
        for (const int fd : {0, 1, 2}) ::close(fd);
        open_closed_descriptors();
        const bool all = is_null_device(0) && is_null_device(1) && is_null_device(2);
        _exit(all && ::open("/dev/null", O_RDONLY) > 2 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace qq::app::cli
