// recv, send and sendmsg without glibc's cancellation points. In a process with threads those switch
// asynchronous cancellation on and off around every call (two atomic exchanges each); our sockets never block
// and our threads are never cancelled. Errors as theirs: -1 and errno.
#pragma once
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstddef>

namespace qq::net {

inline ssize_t recv_now(int fd, void* into, std::size_t size) noexcept {
  return ::syscall(SYS_recvfrom, fd, into, size, 0, nullptr, nullptr);
}
inline ssize_t send_now(int fd, const void* bytes, std::size_t size) noexcept {
  return ::syscall(SYS_sendto, fd, bytes, size, MSG_NOSIGNAL, nullptr, 0);
}
inline ssize_t send_now(int fd, const msghdr& message) noexcept {
  return ::syscall(SYS_sendmsg, fd, &message, MSG_NOSIGNAL);
}

}  // namespace qq::net
