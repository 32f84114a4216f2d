// What the simulator saw: counts, and the last requests as they came. For tests of what a gateway sends
// (header allow-lists, body hashes, attempts) and of what it leaves behind (sockets, aborted exchanges).
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>

#include "base/time.h"

namespace qq::simulator {

enum class ExchangeEnd : std::uint8_t {
  Running,
  Complete,  // the whole reply was taken
  Cut,       // a fault ended it as scripted
  Aborted,   // the peer hung up before the end, or during a stall
};

struct SeenRequest {
  std::uint64_t id = 0;          // counts up from 1
  std::uint64_t connection = 0;  // of the connection, counts up too
  MonotonicTime at{};
  std::string method{};
  std::string target{};
  std::string head{};  // raw, with its empty line; credentials included
  std::uint64_t body_bytes = 0;
  std::string body_sha256{};
  std::string body{};   // its first bytes, up to the limit of the options
  std::string model{};  // as sent
  std::string reply{};  // "chat stream", "error 429", "recording openai/x"
  int status = 0;       // 0: no head was sent
  ExchangeEnd end = ExchangeEnd::Running;
};

class Statistics {
 public:
  // `kept`: how many requests are remembered; `body_max`: how many bytes of each body.
  Statistics(std::size_t kept, std::size_t body_max) noexcept : kept_(kept), body_max_(body_max) {}

  std::uint64_t connection_opened() noexcept;
  void connection_closed(bool control) noexcept;
  // The connection asked for a /sim/ page: it no longer counts as live.
  void connection_is_control() noexcept;

  // A request was read. `request.body` may hold everything; the rest is cut and hashed here.
  std::uint64_t request_started(SeenRequest request, std::string_view body);
  void request_ended(std::uint64_t id, ExchangeEnd end) noexcept;
  void request_was_cut_short() noexcept { ++unfinished_; }  // the peer hung up while sending one
  void wrote(std::uint64_t bytes) noexcept { bytes_out_ += bytes; }

  // Counts and requests go to zero; live connections and running exchanges stay.
  void reset(MonotonicTime now) noexcept;

  [[nodiscard]] std::string json() const;
  [[nodiscard]] std::string requests_json() const;
  [[nodiscard]] const std::deque<SeenRequest>& requests() const noexcept { return requests_; }
  [[nodiscard]] std::uint64_t live_connections() const noexcept { return live_; }
  [[nodiscard]] std::uint64_t accepted() const noexcept { return accepted_; }
  [[nodiscard]] std::uint64_t in_flight() const noexcept { return in_flight_; }
  [[nodiscard]] std::uint64_t max_in_flight() const noexcept { return max_in_flight_; }
  [[nodiscard]] std::uint64_t total() const noexcept { return total_; }
  [[nodiscard]] std::uint64_t aborted() const noexcept { return aborted_; }
  [[nodiscard]] std::uint64_t completed() const noexcept { return completed_; }

 private:
  std::size_t kept_;
  std::size_t body_max_;
  MonotonicTime since_{};
  std::uint64_t live_ = 0;
  std::uint64_t max_live_ = 0;
  std::uint64_t accepted_ = 0;
  std::uint64_t next_connection_ = 0;
  std::uint64_t next_request_ = 0;
  std::uint64_t total_ = 0;
  std::uint64_t in_flight_ = 0;
  std::uint64_t max_in_flight_ = 0;
  std::uint64_t completed_ = 0;
  std::uint64_t cut_ = 0;
  std::uint64_t aborted_ = 0;
  std::uint64_t unfinished_ = 0;
  std::uint64_t bytes_in_ = 0;
  std::uint64_t bytes_out_ = 0;
  std::map<std::string, std::uint64_t, std::less<>> by_model_;
  std::map<std::string, std::uint64_t, std::less<>> by_reply_;
  std::deque<SeenRequest> requests_;
};

}  // namespace qq::simulator
