#include "telemetry/log/log_sink.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace qq::telemetry {
namespace {

int open_for_append(const std::string& path) noexcept {
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0640);
}

// The path, and what is meant where the error's own text ("No such device or address") tells nobody.
std::string not_opened(const std::string& path, int error) {
  struct stat about{};
  if (error != ENXIO || ::stat(path.c_str(), &about) != 0) return path;
  if (S_ISFIFO(about.st_mode)) return path + " (a pipe that nobody reads)";
  if (S_ISSOCK(about.st_mode)) return path + " (a socket; stderr may be one, without --log)";
  return path;
}

iovec to_iovec(std::string_view piece) noexcept {
  return {const_cast<char*>(piece.data()), piece.size()};
}

}  // namespace

LogSink::LogSink(int fd, bool owned, Kind kind, std::string path)
    : fd_(fd), owned_(owned), kind_(kind), path_(std::move(path)) {}

LogSink LogSink::to_descriptor(int fd) {
  struct stat about{};
  if (::fstat(fd, &about) != 0) throw std::system_error(errno, std::generic_category(), "log descriptor");
  if (S_ISREG(about.st_mode)) return {fd, false, Kind::Plain, {}};
  if (S_ISSOCK(about.st_mode)) return {fd, false, Kind::Socket, {}};
  const int own =
      ::open(fmt::format("/proc/self/fd/{}", fd).c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (own >= 0) return {own, true, Kind::Plain, {}};
  return {fd, false, Kind::Shared, {}};
}

LogSink LogSink::to_file(std::string path) {
  const int fd = open_for_append(path);
  if (fd < 0) {
    const int error = errno;
    throw std::system_error(error, std::generic_category(), "log file " + not_opened(path, error));
  }
  return {fd, true, Kind::Plain, std::move(path)};
}

LogSink::LogSink(LogSink&& other) noexcept
    : fd_(other.fd_),
      owned_(std::exchange(other.owned_, false)),
      kind_(other.kind_),
      path_(std::move(other.path_)),
      in_line_(other.in_line_),
      torn_(other.torn_) {}

LogSink::~LogSink() {
  if (owned_) ::close(fd_);
}

bool LogSink::owes_line_end() const noexcept {
  if (!torn_) return false;
  // A rotation may have taken the torn line away.
  struct stat about{};
  return ::fstat(fd_, &about) != 0 || !S_ISREG(about.st_mode) || about.st_size != 0;
}

std::optional<std::size_t> LogSink::write(const std::array<std::string_view, 2>& pieces) noexcept {
  const std::string_view line_end = owes_line_end() ? "\n" : "";
  std::array<iovec, 3> vectors = {to_iovec(line_end), to_iovec(pieces[0]), to_iovec(pieces[1])};
  if (kind_ == Kind::Shared) {
    // A pipe that reports room takes PIPE_BUF bytes without blocking; more might not fit.
    pollfd ready{fd_, POLLOUT, 0};
    if (::poll(&ready, 1, 0) <= 0) return 0;
    std::size_t room = PIPE_BUF;
    for (iovec& vector : vectors) {
      vector.iov_len = std::min(vector.iov_len, room);
      room -= vector.iov_len;
    }
  }
  for (;;) {
    ssize_t written = 0;
    if (kind_ == Kind::Socket) {
      msghdr message{};
      message.msg_iov = vectors.data();
      message.msg_iovlen = vectors.size();
      written = ::sendmsg(fd_, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    } else {
      written = ::writev(fd_, vectors.data(), static_cast<int>(vectors.size()));
    }
    if (written > 0) return taken(pieces, static_cast<std::size_t>(written) - line_end.size());
    if (written == 0) return 0;
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return 0;
    torn_ = torn_ || in_line_;
    in_line_ = false;
    return std::nullopt;
  }
}

std::size_t LogSink::taken(const std::array<std::string_view, 2>& pieces, std::size_t bytes) noexcept {
  torn_ = false;
  if (bytes == 0) return 0;  // the line end alone
  in_line_ =
      (bytes <= pieces[0].size() ? pieces[0][bytes - 1] : pieces[1][bytes - pieces[0].size() - 1]) != '\n';
  return bytes;
}

std::optional<std::string> LogSink::reopen() {
  if (path_.empty()) return std::nullopt;
  const int fresh = open_for_append(path_);
  if (fresh < 0) {
    const int error = errno;
    return not_opened(path_, error) + ": " + std::generic_category().message(error);
  }
  ::close(fd_);
  fd_ = fresh;
  return std::nullopt;
}

}  // namespace qq::telemetry
