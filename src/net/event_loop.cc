#include "net/event_loop.h"

#include <unistd.h>

#include <utility>

namespace qq::net {

AcceptedSocket::AcceptedSocket(AcceptedSocket&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), peer_(other.peer_), owner_(other.owner_), close_(other.close_) {}

AcceptedSocket& AcceptedSocket::operator=(AcceptedSocket&& other) noexcept {
  if (this != &other) {
    discard();
    fd_ = std::exchange(other.fd_, -1);
    peer_ = other.peer_;
    owner_ = other.owner_;
    close_ = other.close_;
  }
  return *this;
}

AcceptedSocket::~AcceptedSocket() {
  discard();
}

int AcceptedSocket::release() noexcept {
  return std::exchange(fd_, -1);
}

void AcceptedSocket::discard() noexcept {
  if (fd_ < 0) return;
  if (close_ != nullptr) {
    close_(owner_, fd_);
  } else {
    ::close(fd_);
  }
  fd_ = -1;
}

}  // namespace qq::net
