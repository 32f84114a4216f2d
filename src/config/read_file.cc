#include "config/read_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace qq::config {
namespace {

// A writer that is there waits for us to open, and begins at once.
constexpr Milliseconds kWriterWait{1'000};

struct Descriptor {
  int fd;
  explicit Descriptor(int opened) : fd(opened) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

std::string_view kind_of(mode_t mode) noexcept {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

// Whether there is something to read, or the end, within the time.
bool await(int fd, MonotonicTime until) noexcept {
  for (;;) {
    const auto left = std::chrono::ceil<Milliseconds>(until - std::chrono::steady_clock::now());
    pollfd readable{fd, POLLIN, 0};
    const int ready = ::poll(&readable, 1, static_cast<int>(std::max<Milliseconds::rep>(left.count(), 0)));
    if (ready >= 0 || errno != EINTR) return ready > 0;
  }
}

}  // namespace

std::expected<std::string, std::string> read_file(const std::string& path, std::size_t max, Pipes pipes,
                                                  Milliseconds pipe_wait) {
  const auto failed = [](std::string_view what) {
    return std::unexpected(fmt::format("cannot be {}: {}", what, std::strerror(errno)));
  };
  // Opening a FIFO or a terminal would wait, too.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (file.fd < 0) return failed("opened");
  struct stat about{};
  if (::fstat(file.fd, &about) != 0) return failed("read");
  const bool pipe = S_ISFIFO(about.st_mode) && pipes == Pipes::Await;
  if (!S_ISREG(about.st_mode) && !pipe) {
    return std::unexpected(fmt::format("is {}, not a file", kind_of(about.st_mode)));
  }
  const MonotonicTime until = std::chrono::steady_clock::now() + pipe_wait;
  bool writer_awaited = false;
  std::string content;
  std::array<char, 16'384> chunk{};
  while (content.size() <= max) {
    const ssize_t size = ::read(file.fd, chunk.data(), std::min(chunk.size(), max + 1 - content.size()));
    if (size > 0) content.append(chunk.data(), static_cast<std::size_t>(size));
    if (size > 0 || (size < 0 && errno == EINTR)) continue;
    if (size < 0 && errno != EAGAIN) return failed("read");
    const bool has_writer = size < 0;
    if (!has_writer && (!pipe || writer_awaited || !content.empty())) break;
    writer_awaited = true;
    if (await(file.fd, has_writer ? until : std::min(until, std::chrono::steady_clock::now() + kWriterWait)))
      continue;
    if (!has_writer) return std::unexpected("is a pipe that nobody writes to");
    return std::unexpected(fmt::format("is a pipe that did not end within {} s", pipe_wait.count() / 1000));
  }
  return content;
}

}  // namespace qq::config
