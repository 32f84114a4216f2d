// How one reply goes to the client: head, framing, gathered writes, what the kernel did not take. HTTP/1.1
// (chunked) and HTTP/1.0 (until close).
#pragma once
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "net/event_loop.h"
#include "relay/client_port.h"
#include "relay/loop_counters.h"

namespace qq::downstream {

class ClientWriter : public relay::ClientPort {
 public:
  ClientWriter(net::Stream& stream, net::Cancellation& gone, relay::LoopCounters& counters,
               Milliseconds write_stall) noexcept
      : stream_(stream), gone_(gone), counters_(counters), write_stall_(write_stall) {}

  // Before each request on the connection.
  // `head_only`: to HEAD, whose replies are heads without their bodies (RFC 9110 9.3.2).
  void reset(int minor_version, bool keep_alive, bool head_only = false) noexcept;

  [[nodiscard]] net::Cancellation& gone() noexcept override { return gone_; }
  Taken reply(int status, std::string_view header_lines, std::span<const std::string_view> body) override;
  void begin(int status, std::string header_lines) override;
  Taken write(std::span<const std::string_view> pieces, Last last) override;
  void abort() noexcept override;
  Task<Result<>> flush(net::Scope scope) override;
  [[nodiscard]] bool pending() const noexcept override { return !pending_.empty(); }
  [[nodiscard]] bool begun() const noexcept override { return status_ != 0; }
  [[nodiscard]] int status() const noexcept override { return status_; }
  [[nodiscard]] bool complete() const noexcept override { return complete_; }
  [[nodiscard]] std::uint64_t bytes_written() const noexcept override { return bytes_written_; }

  // There was a reply, and the stream has all of it.
  [[nodiscard]] bool is_whole() const noexcept { return complete_ && !broken_ && pending_.empty(); }
  // After the reply: may the connection serve another request?
  [[nodiscard]] bool reusable() const noexcept { return keep_alive_ && is_whole(); }
  [[nodiscard]] bool broken() const noexcept { return broken_; }
  void close_after() noexcept { keep_alive_ = false; }
  // A wait for the client is over, which began at `from`: its time counts as the client's.
  void count_wait(MonotonicTime from) noexcept {
    client_wait_ += std::max(stream_.loop().now() - from, MonotonicTime::duration{0});
  }
  [[nodiscard]] std::chrono::nanoseconds client_wait() const noexcept override { return client_wait_; }
  // "HTTP/1.1 100 Continue", if the client waits for it.
  Taken send_continue();
  // Bytes of another protocol, for which the connection was upgraded, behind what is pending; `flush` is for
  // them, too, and may be waiting. From then on a client whose request is cancelled as ClientGone may have
  // ended that protocol and still be there for the rest: who knows that it is not calls `abort`.
  Taken send_raw(std::span<const std::string_view> pieces);

 private:
  [[nodiscard]] std::string_view connection_line() const noexcept;
  Taken write_small_chunk(std::span<const std::string_view> body, std::size_t length);
  Taken push(std::span<iovec> pieces);
  Result<> give_up(net::Wake wake, const net::Scope& scope, std::size_t sent);

  net::Stream& stream_;
  net::Cancellation& gone_;
  relay::LoopCounters& counters_;
  std::uint64_t bytes_written_ = 0;
  int status_ = 0;
  int minor_version_ = 1;
  bool keep_alive_ = true;
  bool head_only_ = false;
  bool until_close_ = false;  // the body's end is the connection's
  bool complete_ = false;
  bool broken_ = false;
  bool raw_ = false;     // the connection is another protocol's
  std::string pending_;  // what the kernel did not take
  std::string head_;     // waits for the first body bytes
  Milliseconds write_stall_;
  std::chrono::nanoseconds client_wait_{};  // of the request's head and body, too, so not for `reset`
};

// "200 OK"'s second half; "Unknown" for codes without a name.
std::string_view reason_phrase(int status) noexcept;

}  // namespace qq::downstream
