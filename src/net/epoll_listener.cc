#include "net/epoll_listener.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "net/epoll_loop.h"
#include "net/errno_text.h"

namespace qq::net {
namespace {

// A guess: few enough that other connections get their turn; the rest is reported again.
constexpr int kAcceptsPerBatch = 32;
constexpr std::chrono::milliseconds kPause{100};

Error cannot_listen(const Address& address, int error) {
  return Error::gateway(ErrorKind::Config, "cannot listen on " + address.text() + ": " + errno_text(error));
}

int open_spare() noexcept {
  return ::open("/dev/null", O_RDONLY | O_CLOEXEC);
}

}  // namespace

Result<std::shared_ptr<const ListenSocket>> ListenSocket::open(const ListenOptions& options) {
  const Address& address = options.address;
  const int fd = ::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
  if (fd < 0) return fail(cannot_listen(address, errno));
  auto socket = std::make_unique<ListenSocket>(fd, address, options.out_of_descriptors_reply);
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(fd, address.data(), address.size()) != 0 || ::listen(fd, options.backlog) != 0) {
    return fail(cannot_listen(address, errno));
  }
  sockaddr_storage bound{};
  socklen_t length = sizeof bound;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &length) != 0) {
    return fail(cannot_listen(address, errno));
  }
  socket->local_ = Address::from(reinterpret_cast<const sockaddr*>(&bound), length);
  return std::shared_ptr<const ListenSocket>(std::move(socket));
}

ListenSocket::~ListenSocket() {
  ::close(fd_);
}

Result<std::unique_ptr<Listener>> EpollListener::make(EpollLoop& loop,
                                                      std::shared_ptr<const ListenSocket> socket,
                                                      EventLoop::Accepted accepted) {
  auto listener = std::make_unique<EpollListener>(loop, std::move(socket), std::move(accepted));
  if (const int error = listener->start(); error != 0) return fail(cannot_listen(listener->local(), error));
  return listener;
}

EpollListener::EpollListener(EpollLoop& loop, std::shared_ptr<const ListenSocket> socket,
                             EventLoop::Accepted accepted)
    : Timer(&EpollListener::resume),
      loop_(loop),
      socket_(std::move(socket)),
      accepted_(std::move(accepted)),
      spare_(open_spare()) {}

EpollListener::~EpollListener() {
  loop_.disarm(*this);
  loop_.poller().remove(token_);
  if (spare_ >= 0) ::close(spare_);
}

int EpollListener::start() noexcept {
  return loop_.poller().add(socket_->fd(), EPOLLIN | EPOLLEXCLUSIVE, *this, token_);
}

void EpollListener::on_events(std::uint32_t /*events*/) noexcept {
  const Poller::Token token = token_;
  Poller& poller = loop_.poller();
  for (int i = 0; i < kAcceptsPerBatch; ++i) {
    sockaddr_storage peer{};
    socklen_t length = sizeof peer;
    const int fd =
        ::accept4(socket_->fd(), reinterpret_cast<sockaddr*>(&peer), &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      accepted_(AcceptedSocket(fd, Address::from(reinterpret_cast<const sockaddr*>(&peer), length)));
      if (!poller.alive(token)) return;
      continue;
    }
    switch (errno) {
      case EAGAIN: return;
      case EMFILE:
      case ENFILE:
        if (is_asked() && loop_.give_descriptors_back()) continue;
        switch (refuse_one()) {
          case Refusal::Refused: continue;
          case Refusal::NothingThere: return;
          case Refusal::Impossible: return pause();
        }
        return;
      case ENOBUFS:
      case ENOMEM: return pause();
      default: continue;  // the connection died in the backlog, or a signal came
    }
  }
}

// Without a descriptor accept4 does not look whether there is anybody.
bool EpollListener::is_asked() const noexcept {
  pollfd asked{.fd = socket_->fd(), .events = POLLIN, .revents = 0};
  return ::poll(&asked, 1, 0) > 0;
}

EpollListener::Refusal EpollListener::refuse_one() noexcept {
  if (spare_ < 0) spare_ = open_spare();
  if (spare_ < 0) return Refusal::Impossible;
  ::close(spare_);
  const int fd = ::accept4(socket_->fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  const int error = errno;
  if (fd >= 0) {
    const std::string_view reply = socket_->out_of_descriptors_reply();
    if (!reply.empty()) ::send(fd, reply.data(), reply.size(), MSG_NOSIGNAL);
    ::shutdown(fd, SHUT_WR);
    // Unread bytes would turn the close into a reset, which may overtake the reply.
    const std::span<char> scratch = loop_.scratch();
    for (int i = 0; i < 4 && ::recv(fd, scratch.data(), scratch.size(), 0) > 0; ++i) {
    }
    ::close(fd);
  }
  spare_ = open_spare();
  if (fd < 0) return error == EAGAIN ? Refusal::NothingThere : Refusal::Impossible;
  return Refusal::Refused;
}

void EpollListener::pause() noexcept {
  loop_.poller().remove(token_);
  loop_.arm(*this, loop_.now() + kPause);
}

void EpollListener::resume(Timer& timer) noexcept {
  auto& self = static_cast<EpollListener&>(timer);
  if (self.start() != 0) self.pause();
}

}  // namespace qq::net
