// The load itself: N keep-alive connections on one thread, in a closed loop (each asks again as soon as
// it is answered) or an open one (requests arrive at a rate of their own, and one that finds no free
// connection waits with its clock running, so that a stall of the proxy is not left out of the result).
#pragma once
#include <sys/epoll.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "load/event_scanner.h"
#include "load/message_reader.h"
#include "load/options.h"

namespace qq::bench {

struct Results {
  double seconds = 0;                    // what the window really lasted
  std::uint64_t requests = 0;            // answered in full within the window
  std::uint64_t errors = 0;              // status other than 200, cut or unfinished answers; warm-up included
  std::uint64_t events = 0;              // `data:` lines within the window
  std::uint64_t open = 0;                // connections with a request under way at the end
  std::int64_t cpu = 0;                  // of --pid's process tree within the window; ns
  std::int64_t resident_before_kib = 0;  // before the first connection
  std::int64_t resident_end_kib = 0;     // at the end of the window
  std::vector<std::int64_t> latencies;   // request to end of answer; ns
  std::vector<std::int64_t> first_events;  // request to first event; ns
  std::vector<std::int64_t> delays;        // stamp to arrival of an event; ns
  std::string first_error;
};

class Generator {
 public:
  explicit Generator(const Options& options);
  ~Generator();
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;

  // Nothing but errors if no connection could be made.
  Results run();

 private:
  struct Connection {
    int fd = -1;
    MessageReader reader{MessageReader::Kind::Answer};
    EventScanner events;
    std::size_t sent = 0;    // of request_
    std::int64_t start = 0;  // intended start of the request under way; 0 is idle
    bool first_event_seen = false;
    bool done_seen = false;
  };

  bool connect(Connection& connection);
  void drop(Connection& connection, const std::string& why);
  void begin(Connection& connection, std::int64_t intended);
  // Begins the next request of a closed loop, or waits for our turn with it.
  void ask_again(Connection& connection, std::int64_t now);
  void begin_turn(std::int64_t now);
  [[nodiscard]] bool is_our_turn(std::int64_t now) const;
  [[nodiscard]] std::int64_t next_turn(std::int64_t now) const;
  void send_rest(Connection& connection);
  void receive(Connection& connection, std::int64_t now);
  void on_body(Connection& connection, std::string_view body, std::int64_t now);
  void finish(Connection& connection, std::int64_t now);
  void start_connections(std::int64_t now);
  // The next request of the open loop comes after that time, in a turn of ours.
  void schedule_arrival(std::int64_t after);
  void issue_arrivals(std::int64_t now);
  void cross_window_borders(std::int64_t now);
  [[nodiscard]] std::int64_t next_wake(std::int64_t now) const;
  [[nodiscard]] bool over() const;

  const Options options_;
  const std::string request_;
  Results results_;
  std::vector<Connection> connections_;
  std::vector<Connection*> idle_;
  std::vector<Connection*> parked_;   // until our turn
  std::deque<std::int64_t> waiting_;  // intended starts that found no idle connection
  std::vector<char> scratch_;
  std::vector<pid_t> processes_;
  std::mt19937_64 random_{20260101};
  int epoll_ = -1;
  std::size_t started_ = 0;     // connections
  std::uint64_t issued_ = 0;    // requests
  std::uint64_t finished_ = 0;  // requests, errors included
  std::int64_t begin_time_ = 0;
  std::int64_t next_arrival_ = 0;
  std::int64_t window_begin_ = 0;
  std::int64_t window_end_ = 0;  // 0 until the window is over
  bool in_window_ = false;
};

}  // namespace qq::bench
