#include "net/tcp_stream.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/assert.h"

namespace qq::net {
namespace {

constexpr std::uint32_t kEvents = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
// Up to this many bytes, copying the pieces together costs less than the kernel's reading of a list of them.
constexpr std::size_t kJoinMax = 4096;

ssize_t send_joined(int fd, std::span<const iovec> pieces) noexcept {
  if (pieces.size() == 1) return ::send(fd, pieces[0].iov_base, pieces[0].iov_len, MSG_NOSIGNAL);
  std::array<char, kJoinMax> joined;
  std::size_t size = 0;
  for (const iovec& piece : pieces) {
    if (piece.iov_len > 0) std::memcpy(joined.data() + size, piece.iov_base, piece.iov_len);
    size += piece.iov_len;
  }
  return ::send(fd, joined.data(), size, MSG_NOSIGNAL);
}

ssize_t send_gathered(int fd, std::span<const iovec> pieces) noexcept {
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(pieces.data());  // sendmsg only reads them
  message.msg_iovlen = pieces.size();
  return ::sendmsg(fd, &message, MSG_NOSIGNAL);
}

}  // namespace

TcpStream::TcpStream(EpollLoop& loop, int fd, Address peer, State state) noexcept
    : Stream(loop), fd_(fd), peer_(peer) {
  writable_ = state == State::Connected;
  const int on = 1;
  ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  error_ = loop.poller().add(fd_, kEvents, *this, token_);
  if (error_ != 0) readable_ = writable_ = hung_up_ = true;
}

TcpStream::~TcpStream() {
  epoll_loop().poller().forget(token_);
  ::close(fd_);
}

void TcpStream::on_events(std::uint32_t events) noexcept {
  // Waking a coroutine may destroy this stream.
  Poller& poller = epoll_loop().poller();
  const Poller::Token token = token_;
  const bool ended = (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
  if (ended && !hung_up_) became_hung_up();
  if ((events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0) {
    became_writable();
    if (!poller.alive(token)) return;
  }
  if ((events & EPOLLIN) != 0 || ended) became_readable();
}

IoTry TcpStream::try_read(std::span<char> into) noexcept {
  QQ_ASSERT(!into.empty());
  if (!readable_) return {};
  for (;;) {
    const ssize_t n = ::recv(fd_, into.data(), into.size(), 0);
    if (n > 0) {
      const auto bytes = static_cast<std::size_t>(n);
      if (bytes < into.size() && !hung_up_) readable_ = false;
      return {IoStatus::Done, bytes, 0};
    }
    if (n == 0) {
      if (error_ != 0) return {IoStatus::Failed, 0, error_};
      if (!hung_up_) became_hung_up();
      return {IoStatus::Closed, 0, 0};
    }
    if (errno == EINTR) continue;
    if (errno == EAGAIN) {
      readable_ = false;
      return {};
    }
    return broken(errno);
  }
}

// The kernel tells an error once. It is kept, so that a read does not take the end after it for an orderly
// one; what arrived before a failed write can still be read.
IoTry TcpStream::broken(int error) noexcept {
  if (error_ == 0) error_ = error;
  if (!hung_up_) became_hung_up();
  return {IoStatus::Failed, 0, error_};
}

IoTry TcpStream::try_write(std::span<const iovec> pieces) noexcept {
  if (!writable_) return {};
  static constexpr std::size_t kMostPieces = 1024;  // IOV_MAX
  if (pieces.size() > kMostPieces) pieces = pieces.first(kMostPieces);
  std::size_t offered = 0;
  for (const iovec& piece : pieces) offered += piece.iov_len;
  for (;;) {
    const ssize_t n = offered <= kJoinMax ? send_joined(fd_, pieces) : send_gathered(fd_, pieces);
    if (n >= 0) {
      const auto bytes = static_cast<std::size_t>(n);
      if (bytes < offered) writable_ = false;
      return {IoStatus::Done, bytes, 0};
    }
    if (errno == EINTR) continue;
    if (errno == EAGAIN) {
      writable_ = false;
      return {};
    }
    return broken(errno);
  }
}

void TcpStream::shutdown_write() noexcept {
  ::shutdown(fd_, SHUT_WR);
}

void TcpStream::set_relaxed(bool relaxed) noexcept {
  epoll_loop().relaxed_events().set_relaxed(token_, kEvents, relaxed);
  if (!relaxed) return;
  // A stream that flows is answered by nothing, so the kernel would acknowledge each read at once, with a
  // packet of its own. Delayed, one acknowledges two.
  const int off = 0;
  ::setsockopt(fd_, IPPROTO_TCP, TCP_QUICKACK, &off, sizeof off);
}

void TcpStream::set_reset_on_close() noexcept {
  const linger now{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

int TcpStream::connect_error() noexcept {
  if (error_ != 0) return error_;
  int error = 0;
  socklen_t length = sizeof error;
  if (::getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &length) != 0) error = errno;
  error_ = error;
  return error;
}

}  // namespace qq::net
