#include "net/epoll_loop.h"

#include <netinet/tcp.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "net/epoll_listener.h"
#include "net/errno_text.h"
#include "net/resolver.h"
#include "net/tcp_stream.h"

namespace qq::net {
namespace {

// A guess: requests end and give their descriptors back within seconds.
constexpr Milliseconds kComeBack{1'000};

Error connect_failed(const Address& address, int error) {
  // Without descriptors or memory it is our own fault, and no evidence against the provider.
  const bool ours = error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
  const std::string text = "cannot connect to " + address.text() + ": " + errno_text(error);
  if (ours) {
    Error saturated = Error::gateway(ErrorKind::Saturated, text);
    saturated.retry_after = kComeBack;
    return saturated;
  }
  return Error::upstream(error == ETIMEDOUT ? ErrorKind::ConnectTimeout : ErrorKind::ConnectFailed,
                         AttemptPhase::NotSent, text);
}

}  // namespace

EpollLoop::EpollLoop(EpollLoopOptions options)
    : options_(std::move(options)),
      now_(std::chrono::steady_clock::now()),
      timers_(now_),
      scratch_(std::make_unique_for_overwrite<char[]>(kScratchBytes)) {
  wakeup_.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (wakeup_.fd < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  if (const int error = poller_.add(wakeup_.fd, EPOLLIN | EPOLLET, wakeup_, wakeup_.token); error != 0) {
    ::close(wakeup_.fd);
    throw std::system_error(error, std::generic_category(), "epoll_ctl");
  }
}

EpollLoop::~EpollLoop() {
  resolver_.reset();
  ::close(wakeup_.fd);
}

bool EpollLoop::post(std::move_only_function<void()> function) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return false;
    first = posts_.empty();
    posts_.push_back(std::move(function));
  }
  if (first) wake();
  return true;
}

void EpollLoop::stop() noexcept {
  stopping_.store(true, std::memory_order_release);
  wake();
}

void EpollLoop::wake() noexcept {
  const std::uint64_t one = 1;
  // It fails only when the counter is full, and then the loop has been woken already.
  [[maybe_unused]] const ssize_t written = ::write(wakeup_.fd, &one, sizeof one);
}

std::chrono::nanoseconds EpollLoop::patience(MonotonicTime now) const noexcept {
  static constexpr std::chrono::seconds kLongest{60};
  if (!waiters_.empty() || !later_.empty()) return std::chrono::nanoseconds{0};
  const MonotonicTime next = timers_.next();
  const MonotonicTime until = std::min(next, relaxed_.due());
  if (until == kNever) return Poller::kForEver;
  if (until <= now) return std::chrono::nanoseconds{0};
  // Timers are told in whole milliseconds; what is relaxed has a finer clock.
  const auto wait = until - now;
  const auto rounded = until < next ? wait : std::chrono::ceil<std::chrono::milliseconds>(wait);
  return std::min<std::chrono::nanoseconds>(rounded, kLongest);
}

void EpollLoop::run() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = false;
  }
  now_ = std::chrono::steady_clock::now();
  // Those that came before anybody ran, and whom they wake: one of them may have stopped the loop.
  run_posts();
  resume_queued();
  held_sends_.send_all();
  MonotonicTime batch_end = now_;
  while (!stopping_.load(std::memory_order_acquire)) {
    const int events = poller_.wait(patience(batch_end));
    now_ = std::chrono::steady_clock::now();
    poller_.dispatch(events);
    relaxed_.look(now_);
    timers_.advance(now_);
    if (std::exchange(wakeup_.signalled, false)) run_posts();
    resume_queued();
    held_sends_.send_all();
    batch_end = std::chrono::steady_clock::now();
    worst_batch_ = std::max(worst_batch_, std::chrono::nanoseconds(batch_end - now_));
  }
  // What nobody will run is destroyed here, on the loop's thread: it may own connections.
  std::vector<std::move_only_function<void()>> left;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    left.swap(posts_);
  }
  stopping_.store(false, std::memory_order_release);
}

void EpollLoop::run_posts() {
  std::vector<std::move_only_function<void()>> posts;
  {
    const std::lock_guard lock(mutex_);
    posts.swap(posts_);
  }
  for (auto& function : posts) function();
}

void EpollLoop::resume_queued() {
  waiters_.wake_all();
  if (later_.empty()) return;
  resuming_.swap(later_);
  for (const std::coroutine_handle<> handle : resuming_) handle.resume();
  resuming_.clear();
}

Task<Result<std::unique_ptr<Stream>>> EpollLoop::connect(Address address, Scope scope) {
  const int fd = ::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
  if (fd < 0) co_return fail(connect_failed(address, errno));
  if (::connect(fd, address.data(), address.size()) != 0 && errno != EINPROGRESS) {
    const int error = errno;
    ::close(fd);
    co_return fail(connect_failed(address, error));
  }
  auto stream = std::make_unique<TcpStream>(*this, fd, address, TcpStream::State::Connecting);
  const Wake wake = co_await stream->writable(scope);
  if (wake == Wake::Cancelled) co_return fail(cancelled_error(scope));
  if (wake == Wake::Deadline) {
    co_return fail(Error::upstream(ErrorKind::ConnectTimeout, AttemptPhase::NotSent,
                                   "connecting to " + address.text() + " took too long"));
  }
  if (const int error = stream->connect_error(); error != 0) co_return fail(connect_failed(address, error));
  co_return stream;
}

Task<Result<std::vector<Address>>> EpollLoop::resolve(std::string host, std::uint16_t port, Scope scope) {
  if (const auto numeric = Address::from_host(host, port)) co_return std::vector<Address>(1, *numeric);
  if (!resolver_) resolver_ = std::make_unique<Resolver>(*this, options_.dns);
  co_return co_await resolver_->resolve(std::move(host), port, Resolver::Keep::Yes, scope);
}

Task<Result<std::vector<Address>>> EpollLoop::resolve_once(std::string host, std::uint16_t port,
                                                           Scope scope) {
  if (const auto numeric = Address::from_host(host, port)) co_return std::vector<Address>(1, *numeric);
  if (!resolver_) resolver_ = std::make_unique<Resolver>(*this, options_.dns);
  co_return co_await resolver_->resolve(std::move(host), port, Resolver::Keep::No, scope);
}

Result<std::unique_ptr<Listener>> EpollLoop::listen(const ListenOptions& options, Accepted accepted) {
  QQ_TRY(auto socket, ListenSocket::open(options));
  return EpollListener::make(*this, std::move(socket), std::move(accepted));
}

Result<std::unique_ptr<Listener>> EpollLoop::share(Listener& listener, Accepted accepted) {
  auto* const other = dynamic_cast<EpollListener*>(&listener);
  QQ_ASSERT(other != nullptr);
  return EpollListener::make(*this, other->socket(), std::move(accepted));
}

std::unique_ptr<Stream> EpollLoop::adopt(AcceptedSocket socket) {
  const Address peer = socket.peer();
  return std::make_unique<TcpStream>(*this, socket.release(), peer, TcpStream::State::Connected);
}

}  // namespace qq::net
