#include "net/tcp_stream.h"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/assert.h"
#include "net/socket_calls.h"

namespace qq::net {
namespace {

constexpr std::uint32_t kEvents = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
ssize_t send_gathered(int fd, std::span<const iovec> pieces) noexcept {
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(pieces.data());  // sendmsg only reads them
  message.msg_iovlen = pieces.size();
  return send_now(fd, message);
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
  if (held_ != 0) send_held();
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
    writable_ = true;
    if (!unsent_.empty()) send_unsent();
    if (writable_) became_writable();
    if (!poller.alive(token)) return;
  }
  if ((events & EPOLLIN) != 0 || ended) became_readable();
}

IoTry TcpStream::try_read(std::span<char> into) noexcept {
  QQ_ASSERT(!into.empty());
  if (!readable_) return {};
  for (;;) {
    const ssize_t n = recv_now(fd_, into.data(), into.size());
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
  if (error_ != 0) return {IoStatus::Failed, 0, error_};
  static constexpr std::size_t kMostPieces = 1024;  // IOV_MAX
  if (pieces.size() > kMostPieces) pieces = pieces.first(kMostPieces);
  std::size_t offered = 0;
  for (const iovec& piece : pieces) offered += piece.iov_len;
  // Where the peer has hung up, the writer is to learn at once that nobody listens.
  const bool small = offered <= HeldSends::kWriteMax && !hung_up_;
  HeldSends& held = epoll_loop().held_sends();
  if (held_ != 0 && (!small || !held.may_grow(held_, offered))) {
    send_held();
    if (!writable_) return {};
    if (error_ != 0) return {IoStatus::Failed, 0, error_};
  }
  if (!small) return send(pieces, offered);
  held.hold(*this, held_, pieces, offered);
  return {IoStatus::Done, offered, 0};
}

IoTry TcpStream::send(std::span<const iovec> pieces, std::size_t offered) noexcept {
  for (;;) {
    const ssize_t n = pieces.size() == 1 ? send_now(fd_, pieces[0].iov_base, pieces[0].iov_len)
                                         : send_gathered(fd_, pieces);
    if (n >= 0) {
      const auto bytes = static_cast<std::size_t>(n);
      sent_ += bytes;
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

void TcpStream::send_held() noexcept {
  const std::string_view bytes = epoll_loop().held_sends().take(held_);
  const iovec piece = as_iovec(bytes);
  const IoTry tried = send({&piece, 1}, bytes.size());
  if (tried.status == IoStatus::Failed) {
    // The writer has been told that all is well. Who reads learns it, and whoever writes next.
    became_readable_later();
    return;
  }
  if (tried.bytes < bytes.size()) unsent_ = bytes.substr(tried.bytes);
}

void TcpStream::send_unsent() noexcept {
  const iovec piece = as_iovec(unsent_);
  const IoTry tried = send({&piece, 1}, unsent_.size());
  if (tried.status != IoStatus::Failed && tried.bytes < unsent_.size()) {
    unsent_.erase(0, tried.bytes);
    return;
  }
  std::string().swap(unsent_);
  if (fin_wanted_) ::shutdown(fd_, SHUT_WR);
}

bool TcpStream::settle() noexcept {
  if (held_ != 0) send_held();
  return unsent_.empty();
}

std::uint64_t TcpStream::acknowledged() noexcept {
  int unacknowledged = 0;
  if (::ioctl(fd_, SIOCOUTQ, &unacknowledged) != 0) return 0;
  return sent_ - static_cast<std::uint64_t>(unacknowledged);
}

void TcpStream::shutdown_write() noexcept {
  fin_wanted_ = !settle();
  if (!fin_wanted_) ::shutdown(fd_, SHUT_WR);
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
