#include "app/cli/streams.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <sstream>

#include "app/cli/command_line.h"

namespace qq::app::cli {
namespace {

bool print(std::FILE* file, std::string_view text) noexcept {
  const bool taken = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return std::fflush(file) == 0 && taken;
}

}  // namespace

void open_closed_descriptors() noexcept {
  for (const int fd : {0, 1, 2}) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    // The lowest free number is this one, as those below are open.
    [[maybe_unused]] const int opened = ::open("/dev/null", fd == 1 ? O_RDONLY : O_RDWR);
  }
}

bool print_out(std::string_view text) noexcept {
  return print(stdout, text);
}

bool print_err(std::string_view text) noexcept {
  return print(stderr, text);
}

int on_process_streams(const std::function<int(const Streams&)>& command) {
  std::ostringstream out;
  std::ostringstream err;
  const auto input = ::isatty(STDIN_FILENO) == 1 ? Streams::Input::Typed : Streams::Input::Given;
  const int code = command({std::cin, out, err, input});
  const bool printed = print_out(out.view());
  const int reason = errno;
  print_err(err.view());
  if (printed) return code;
  print_err(fmt::format("queqiao: the output could not be written: {}\n", std::strerror(reason)));
  return code == kGood ? kFailed : code;
}

}  // namespace qq::app::cli
