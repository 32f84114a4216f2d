// The simulated event loop: virtual time and a network in memory, deterministic. It runs the same coroutines
// as the real loop. When nothing is runnable, time jumps to the next timer or arrival; when there is neither,
// `run` returns. One thread.
//
//   SimulatedLoop loop;
//   auto listener = loop.listen(options, accepted);          // a scripted server is an ordinary coroutine
//   loop.set_network(listener->local(), {.down = {.latency = 20ms, .split = Split::each(1)}});
//   loop.set_connect(other, {ConnectOutcome::BlackHole});
//   loop.set_name("api.example.com", {"203.0.113.7"});
//   loop.after(5s, [&] { ... });                              // anything at a chosen moment
//   loop.run();
//
// What it does not model: loss, reordering, congestion; a byte, a FIN or a reset arrives `latency` after it
// was sent. As with the kernel, unread bytes can be read before a reset shows, closing with unread bytes is a
// reset, and writing to a closed end is answered by one.
#pragma once
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>

#include "base/random.h"
#include "net/event_loop.h"

namespace qq::net {

// Where arrivals end: a read never returns bytes of two arrivals, and the reader waits in between.
class Split {
 public:
  static Split whole() noexcept { return {}; }                                      // as TCP would: coalesced
  static Split each(std::size_t bytes) noexcept { return {Mode::Each, bytes, 0}; }  // every so many bytes
  static Split at(std::size_t position) noexcept {
    return {Mode::At, position, 0};
  }  // once, at this position
  static Split random(std::uint64_t seed, std::size_t longest) noexcept {
    return {Mode::Random, longest, seed};
  }

 private:
  friend class SimulatedPipe;
  enum class Mode : std::uint8_t { Whole, Each, At, Random };
  Split() = default;
  Split(Mode mode, std::size_t bytes, std::uint64_t seed) noexcept
      : mode_(mode), bytes_(bytes), seed_(seed) {}
  Mode mode_ = Mode::Whole;
  std::size_t bytes_ = 0;
  std::uint64_t seed_ = 0;
};

enum class CutKind : std::uint8_t {
  Fin,    // an orderly end
  Reset,  // both ends see a reset
  Stall,  // nothing more arrives, and nothing is said
};
// What happens to one direction after so many bytes; what is written behind is swallowed.
struct SimulatedCut {
  std::size_t after_bytes = 0;
  CutKind kind = CutKind::Reset;
};

struct SimulatedDirection {
  std::chrono::nanoseconds latency{0};
  std::size_t window = 256UL * 1024;  // bytes on the way and unread, before the writer must wait
  std::size_t write_limit = 0;        // the most bytes that one write takes; 0: no limit
  Split split = Split::whole();
  std::optional<SimulatedCut> cut{};
};
struct SimulatedNetwork {
  SimulatedDirection up{};    // from the connecting end
  SimulatedDirection down{};  // towards it
};

enum class ConnectOutcome : std::uint8_t {
  Accept,  // refused all the same when nobody listens
  Refuse,
  BlackHole,      // no answer, until the scope's end
  NoDescriptors,  // as where this process has no more of them
};
struct ConnectScript {
  ConnectOutcome outcome = ConnectOutcome::Accept;
  std::chrono::nanoseconds latency{0};
};

class SimulatedStream;
class SimulatedListener;
struct SimulatedConnection;

class SimulatedLoop final : public EventLoop {
 public:
  SimulatedLoop();
  ~SimulatedLoop() override;

  // --- the script ---
  // Of connections made from now on, to this listening address or to all that have none of their own.
  void set_network(const Address& listener, const SimulatedNetwork& network);
  void set_network(const SimulatedNetwork& network) { network_ = network; }
  void set_connect(const Address& address, ConnectScript script);  // every connect
  void next_connect(const Address& address,
                    ConnectScript script);  // one connect each, before `set_connect`'s
  void set_name(std::string host, const std::vector<std::string>& numeric,
                std::chrono::nanoseconds latency = {});
  void fail_name(std::string host, std::chrono::nanoseconds latency = {});  // unknown names fail at once
  // Calls `function` at that moment of virtual time.
  void at(MonotonicTime when, std::move_only_function<void()> function);
  void after(std::chrono::nanoseconds delay, std::move_only_function<void()> function) {
    at(now_ + delay, std::move(function));
  }
  // The n-th I/O call from now on fails with `error`: reads and writes (which break their connection),
  // connects and resolves. n >= 1.
  void fail_io_call(std::uint64_t n, int error = ECONNRESET) noexcept;
  [[nodiscard]] std::uint64_t io_calls() const noexcept { return io_calls_; }
  // Both ends of a connection that needs no listener.
  std::pair<std::unique_ptr<Stream>, std::unique_ptr<Stream>> make_pair(const SimulatedNetwork& network = {});
  // Stream objects that exist: leaks of sockets show here.
  [[nodiscard]] std::size_t open_streams() const noexcept { return open_streams_; }
  [[nodiscard]] std::uint64_t connects() const noexcept { return connects_; }

  // Runs until `stop`, until there is nothing left to do, or until that much virtual time has passed.
  void run_for(std::chrono::nanoseconds time);

  // --- EventLoop ---
  [[nodiscard]] MonotonicTime now() const noexcept override { return now_; }
  [[nodiscard]] MonotonicTime precise_now() const noexcept override { return now_; }
  [[nodiscard]] WallTime wall_now() const noexcept override;
  void arm(Timer& timer, MonotonicTime when) noexcept override;
  void disarm(Timer& timer) noexcept override;
  bool post(std::move_only_function<void()> function) override;
  void resume_later(std::coroutine_handle<> handle) override { later_.push_back(handle); }
  void queue(Waiter& waiter) noexcept override { waiters_.push(waiter); }
  void unqueue(Waiter& waiter) noexcept override { waiters_.remove(waiter); }
  Task<Result<std::unique_ptr<Stream>>> connect(Address address, Scope scope) override;
  Task<Result<std::vector<Address>>> resolve(std::string host, std::uint16_t port, Scope scope) override;
  Result<std::unique_ptr<Listener>> listen(const ListenOptions& options, Accepted accepted) override;
  Result<std::unique_ptr<Listener>> share(Listener& listener, Accepted accepted) override;
  std::unique_ptr<Stream> adopt(AcceptedSocket socket) override;
  [[nodiscard]] std::span<char> scratch() noexcept override { return {scratch_.get(), kScratchBytes}; }
  void run() override;
  void stop() noexcept override { stopping_ = true; }
  [[nodiscard]] std::chrono::nanoseconds take_worst_batch() noexcept override { return {}; }

 private:
  friend class SimulatedStream;
  friend class SimulatedListener;
  friend class SimulatedPipe;

  static constexpr std::size_t kScratchBytes = 64UL * 1024;

  struct EarlierTimer {
    bool operator()(const Timer* a, const Timer* b) const noexcept;
  };
  struct Name {
    std::vector<Address> addresses;
    std::chrono::nanoseconds latency;
  };
  struct Connects {
    std::deque<ConnectScript> next;
    ConnectScript always;
  };

  bool run_batch(MonotonicTime limit);
  void run_posts();
  [[nodiscard]] bool io_call_fails() noexcept;
  [[nodiscard]] ConnectScript connect_script(const Address& address);
  [[nodiscard]] const SimulatedNetwork& network_of(const Address& address) const;
  [[nodiscard]] SimulatedListener* listener_of(const Address& address) noexcept;
  static void close_unadopted(void* loop, int id) noexcept;

  MonotonicTime now_;
  const MonotonicTime start_;
  bool stopping_ = false;
  std::unique_ptr<char[]> scratch_;

  std::set<Timer*, EarlierTimer> timers_;
  std::uint32_t timers_armed_ = 0;  // orders timers of one moment
  std::multimap<MonotonicTime, std::move_only_function<void()>> moments_;
  WaiterQueue waiters_;
  std::vector<std::coroutine_handle<>> later_;
  std::uint64_t batches_at_this_moment_ = 0;

  SimulatedNetwork network_;
  std::map<std::string, SimulatedNetwork, std::less<>> networks_;  // by Address::text()
  std::map<std::string, Connects, std::less<>> connect_scripts_;
  std::unordered_map<std::string, Name> names_;
  std::vector<SimulatedListener*> listeners_;
  std::uint16_t next_port_ = 20'000;
  std::unordered_map<int, std::unique_ptr<Stream>> unadopted_;
  int next_id_ = 0;

  std::uint64_t io_calls_ = 0;
  std::uint64_t failing_call_ = 0;  // 0: none
  int failing_error_ = 0;
  std::size_t open_streams_ = 0;
  std::uint64_t connects_ = 0;

  std::mutex mutex_;  // guards the two below
  std::vector<std::move_only_function<void()>> posts_;
  bool closed_ = false;
};

}  // namespace qq::net
