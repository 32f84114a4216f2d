#include "net/simulated_loop.h"

#include <cerrno>

#include "net/errno_text.h"
#include "net/simulated_stream.h"

namespace qq::net {
namespace {

// Nobody needs more batches without time passing; a spinning coroutine would otherwise hang the test.
constexpr std::uint64_t kMostBatchesAtOneMoment = 20'000'000;

// 2026-01-01T00:00:00Z: any fixed date, so that runs repeat.
constexpr WallTime kFirstDay{std::chrono::seconds(1'767'225'600)};

Error connect_refused(const Address& address, int error) {
  return Error::upstream(ErrorKind::ConnectFailed, AttemptPhase::NotSent,
                         "cannot connect to " + address.text() + ": " + errno_text(error));
}

Error unresolved(const std::string& host) {
  return Error::upstream(ErrorKind::DnsFailed, AttemptPhase::NotSent,
                         "cannot resolve \"" + host + "\": Domain name not found");
}

}  // namespace

bool SimulatedLoop::EarlierTimer::operator()(const Timer* a, const Timer* b) const noexcept {
  return a->when_ != b->when_ ? a->when_ < b->when_ : a->slot_ < b->slot_;
}

// Not at the clock's origin, so that subtracting from `now` is safe.
SimulatedLoop::SimulatedLoop()
    : now_(std::chrono::hours(1'000)),
      start_(now_),
      scratch_(std::make_unique_for_overwrite<char[]>(kScratchBytes)) {}

SimulatedLoop::~SimulatedLoop() {
  unadopted_.clear();
  while (!timers_.empty()) disarm(**timers_.begin());
}

void SimulatedLoop::set_network(const Address& listener, const SimulatedNetwork& network) {
  networks_.insert_or_assign(listener.text(), network);
}

void SimulatedLoop::set_connect(const Address& address, ConnectScript script) {
  connect_scripts_[address.text()].always = script;
}

void SimulatedLoop::next_connect(const Address& address, ConnectScript script) {
  connect_scripts_[address.text()].next.push_back(script);
}

void SimulatedLoop::set_name(std::string host, const std::vector<std::string>& numeric,
                             std::chrono::nanoseconds latency) {
  Name name{{}, latency};
  for (const std::string& text : numeric) name.addresses.push_back(Address::from_host(text, 0).value());
  names_.insert_or_assign(std::move(host), std::move(name));
}

void SimulatedLoop::fail_name(std::string host, std::chrono::nanoseconds latency) {
  names_.insert_or_assign(std::move(host), Name{{}, latency});
}

void SimulatedLoop::at(MonotonicTime when, std::move_only_function<void()> function) {
  moments_.emplace(std::max(when, now_), std::move(function));
}

void SimulatedLoop::fail_io_call(std::uint64_t n, int error) noexcept {
  failing_call_ = io_calls_ + n;
  failing_error_ = error;
}

bool SimulatedLoop::io_call_fails() noexcept {
  return ++io_calls_ == failing_call_;
}

std::pair<std::unique_ptr<Stream>, std::unique_ptr<Stream>> SimulatedLoop::make_pair(
    const SimulatedNetwork& network) {
  return SimulatedStream::make_pair(*this, network, Address::parse("127.0.0.1:1").value(),
                                    Address::parse("127.0.0.1:2").value());
}

WallTime SimulatedLoop::wall_now() const noexcept {
  return kFirstDay + std::chrono::duration_cast<WallTime::duration>(now_ - start_);
}

void SimulatedLoop::arm(Timer& timer, MonotonicTime when) noexcept {
  disarm(timer);
  timer.when_ = when;
  timer.slot_ = ++timers_armed_;
  timer.next_ = &timer;  // says that it is armed
  timers_.insert(&timer);
}

void SimulatedLoop::disarm(Timer& timer) noexcept {
  if (!timer.armed()) return;
  timers_.erase(&timer);
  timer.next_ = nullptr;
}

bool SimulatedLoop::post(std::move_only_function<void()> function) {
  const std::lock_guard lock(mutex_);
  if (closed_) return false;
  posts_.push_back(std::move(function));
  return true;
}

void SimulatedLoop::run_posts() {
  std::vector<std::move_only_function<void()>> posts;
  {
    const std::lock_guard lock(mutex_);
    posts.swap(posts_);
  }
  for (auto& function : posts) function();
}

// One batch, in the order of the real loop: arrivals, timers, posts, what was queued. False when there is
// nothing to do up to `limit`.
bool SimulatedLoop::run_batch(MonotonicTime limit) {
  bool posted = false;
  {
    const std::lock_guard lock(mutex_);
    posted = !posts_.empty();
  }
  MonotonicTime next = now_;
  if (waiters_.empty() && later_.empty() && !posted) {
    next = kNever;
    if (!moments_.empty()) next = moments_.begin()->first;
    if (!timers_.empty()) next = std::min(next, (*timers_.begin())->when());
    if (next == kNever || next > limit) return false;
  }
  batches_at_this_moment_ = next > now_ ? 0 : batches_at_this_moment_ + 1;
  QQ_ASSERT(batches_at_this_moment_ < kMostBatchesAtOneMoment);
  now_ = std::max(now_, next);

  // Only what is due now: what these add belongs to the next batch.
  std::vector<std::move_only_function<void()>> due;
  while (!moments_.empty() && moments_.begin()->first <= now_) {
    due.push_back(std::move(moments_.begin()->second));
    moments_.erase(moments_.begin());
  }
  for (auto& function : due) function();
  const std::uint32_t newest = timers_armed_;
  while (!timers_.empty()) {
    Timer& timer = **timers_.begin();
    if (timer.when_ > now_ || timer.slot_ > newest) break;
    disarm(timer);
    timer.fire_(timer);
  }
  run_posts();
  waiters_.wake_all();
  std::vector<std::coroutine_handle<>> resuming;
  resuming.swap(later_);
  for (const std::coroutine_handle<> handle : resuming) handle.resume();
  return true;
}

void SimulatedLoop::run() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = false;
  }
  while (!stopping_) {
    if (!run_batch(kNever)) return;
  }
  stopping_ = false;
  std::vector<std::move_only_function<void()>> left;
  const std::lock_guard lock(mutex_);
  closed_ = true;
  left.swap(posts_);
}

void SimulatedLoop::run_for(std::chrono::nanoseconds time) {
  const MonotonicTime limit = now_ + time;
  while (!stopping_ && run_batch(limit)) {
  }
  if (!stopping_) now_ = limit;
  stopping_ = false;
}

ConnectScript SimulatedLoop::connect_script(const Address& address) {
  const auto found = connect_scripts_.find(address.text());
  if (found == connect_scripts_.end()) return {};
  Connects& connects = found->second;
  if (connects.next.empty()) return connects.always;
  const ConnectScript script = connects.next.front();
  connects.next.pop_front();
  return script;
}

const SimulatedNetwork& SimulatedLoop::network_of(const Address& address) const {
  const auto found = networks_.find(address.text());
  return found != networks_.end() ? found->second : network_;
}

SimulatedListener* SimulatedLoop::listener_of(const Address& address) noexcept {
  for (SimulatedListener* listener : listeners_) {
    const Address& local = listener->group_->local;
    const bool any = local.host_text() == "0.0.0.0" || local.host_text() == "::";
    if (local == address || (any && local.port() == address.port())) {
      SimulatedListener::Group& group = *listener->group_;
      return group.members[group.turn++ % group.members.size()];
    }
  }
  return nullptr;
}

Task<Result<std::unique_ptr<Stream>>> SimulatedLoop::connect(Address address, Scope scope) {
  ++connects_;
  if (io_call_fails()) co_return fail(connect_refused(address, failing_error_));
  const ConnectScript script = connect_script(address);
  if (script.outcome == ConnectOutcome::NoDescriptors) {
    co_return fail(Error::gateway(ErrorKind::Saturated, "cannot connect: " + errno_text(EMFILE)));
  }
  const bool answered = script.outcome != ConnectOutcome::BlackHole;
  const MonotonicTime answer = answered ? now_ + script.latency : kNever;
  const Wake wake = co_await sleep(*this, scope.until(answer));
  if (wake == Wake::Cancelled) co_return fail(cancelled_error(scope));
  if (!answered || now_ < answer) {
    co_return fail(Error::upstream(ErrorKind::ConnectTimeout, AttemptPhase::NotSent,
                                   "connecting to " + address.text() + " took too long"));
  }
  SimulatedListener* const listener = listener_of(address);
  if (listener == nullptr || script.outcome == ConnectOutcome::Refuse) {
    co_return fail(connect_refused(address, ECONNREFUSED));
  }
  const Address client = Address::parse("127.0.0.1:" + std::to_string(40'000 + connects_ % 20'000)).value();
  auto [mine, theirs] = SimulatedStream::make_pair(*this, network_of(address), client, address);
  const int id = next_id_++;
  unadopted_.emplace(id, std::move(theirs));
  listener->accepted_(AcceptedSocket(id, client, this, &SimulatedLoop::close_unadopted));
  co_return std::move(mine);
}

Task<Result<std::vector<Address>>> SimulatedLoop::resolve(std::string host, std::uint16_t port, Scope scope) {
  if (const auto numeric = Address::from_host(host, port)) co_return std::vector<Address>(1, *numeric);
  if (io_call_fails()) co_return fail(unresolved(host));
  const auto found = names_.find(host);
  if (found == names_.end()) co_return fail(unresolved(host));
  const Name name = found->second;
  const MonotonicTime answer = now_ + name.latency;
  const Wake wake = co_await sleep(*this, scope.until(answer));
  if (wake == Wake::Cancelled) co_return fail(cancelled_error(scope));
  if (now_ < answer || name.addresses.empty()) co_return fail(unresolved(host));
  std::vector<Address> addresses;
  for (const Address& address : name.addresses) addresses.push_back(address.with_port(port));
  co_return addresses;
}

Result<std::unique_ptr<Listener>> SimulatedLoop::listen(const ListenOptions& options, Accepted accepted) {
  auto group = std::make_shared<SimulatedListener::Group>();
  group->local = options.address.port() != 0 ? options.address : options.address.with_port(next_port_++);
  for (const SimulatedListener* other : listeners_) {
    if (other->group_->local == group->local) {
      return fail(Error::gateway(ErrorKind::Config,
                                 "cannot listen on " + group->local.text() + ": " + errno_text(EADDRINUSE)));
    }
  }
  return std::make_unique<SimulatedListener>(*this, std::move(group), std::move(accepted));
}

Result<std::unique_ptr<Listener>> SimulatedLoop::share(Listener& listener, Accepted accepted) {
  auto* const other = dynamic_cast<SimulatedListener*>(&listener);
  QQ_ASSERT(other != nullptr);
  return std::make_unique<SimulatedListener>(*this, other->group_, std::move(accepted));
}

std::unique_ptr<Stream> SimulatedLoop::adopt(AcceptedSocket socket) {
  auto node = unadopted_.extract(socket.release());
  QQ_ASSERT(!node.empty());
  return std::move(node.mapped());
}

void SimulatedLoop::close_unadopted(void* loop, int id) noexcept {
  static_cast<SimulatedLoop*>(loop)->unadopted_.erase(id);
}

}  // namespace qq::net
