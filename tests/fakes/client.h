// A small HTTP/1.1 client on a loop's streams, which records every byte with the moment it came.
//
//   Client client(loop, address);
//   client.start("POST /v1/… ", …);    // connects and writes; may be called once
//   … run the loop …
//   client.reply()                     // the first reply
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/task.h"
#include "fakes/reply_reader.h"
#include "net/event_loop.h"

namespace qq::fakes {

class Client {
 public:
  struct Arrival {
    MonotonicTime at{};
    std::size_t upto = 0;  // of `raw()`, behind these bytes
  };
  enum class Leave : std::uint8_t {
    Fin,    // no more to say: half-closes and reads on
    Reset,  // closes with a reset
  };

  Client(net::EventLoop& loop, net::Address gateway)
      : loop_(loop), gateway_(gateway), cancel_(loop), reading_again_(loop) {}
  ~Client() { QQ_ASSERT(tasks_.running() == 0); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Connects, writes all of `bytes` and reads until `replies` replies are complete or the gateway closes.
  // Then the connection is closed, unless `stay`.
  void start(std::string bytes, std::size_t replies = 1, bool stay = false) {
    tasks_.spawn(converse(*this, std::move(bytes), replies, stay));
  }
  // More bytes on the same connection; only while it is open.
  void say(std::string_view bytes);
  // Reads nothing until it is told to again.
  void stop_reading() noexcept {
    reading_ = false;
    reading_again_.reset();
  }
  void read_again() noexcept {
    reading_ = true;
    reading_again_.set();
  }
  // Reads steadily, and no faster than so many bytes each `pause`.
  void read_slowly(std::size_t bytes, Milliseconds pause) noexcept {
    read_most_ = bytes;
    pause_ = pause;
  }
  // Before `start`: writes everything before it reads, whatever the gateway has to say meanwhile.
  void write_all_first() noexcept { writes_all_first_ = true; }
  void leave(Leave how) noexcept;
  // Calls it once everything is over.
  void on_end(std::move_only_function<void()> call) { on_end_ = std::move(call); }

  [[nodiscard]] bool running() const noexcept { return tasks_.running() > 0; }
  [[nodiscard]] bool closed_by_gateway() const noexcept { return closed_; }
  [[nodiscard]] bool reset_by_gateway() const noexcept { return reset_; }
  [[nodiscard]] bool connected() const noexcept { return stream_ != nullptr || closed_ || reset_; }
  [[nodiscard]] const std::string& raw() const noexcept { return raw_; }
  [[nodiscard]] const std::vector<Arrival>& arrivals() const noexcept { return arrivals_; }
  [[nodiscard]] const ReplyReader& reader() const noexcept { return reader_; }
  [[nodiscard]] MonotonicTime started() const noexcept { return started_; }
  [[nodiscard]] MonotonicTime ended() const noexcept { return ended_; }
  // The n-th reply; an empty one if it did not come.
  [[nodiscard]] const HttpReply& reply(std::size_t n = 0) const {
    static const HttpReply none;
    return n < reader_.replies().size() ? reader_.replies()[n] : none;
  }
  // How long after the start the n-th appearance of `text` in the raw bytes was complete; nothing if never.
  [[nodiscard]] std::optional<Milliseconds> time_of(std::string_view text, std::size_t n = 0) const;

 private:
  static Task<void> converse(Client& client, std::string bytes, std::size_t replies, bool stay);
  static Task<bool> write_all(Client& client, std::string_view bytes);
  Task<void> read(std::size_t replies);

  net::EventLoop& loop_;
  net::Address gateway_;
  net::Cancellation cancel_;
  std::unique_ptr<net::Stream> stream_;
  std::string raw_;
  std::vector<Arrival> arrivals_;
  ReplyReader reader_;
  MonotonicTime started_{};
  MonotonicTime ended_{};
  std::optional<Leave> leaving_;
  net::Signal reading_again_;
  bool reading_ = true;
  bool writes_all_first_ = false;
  std::size_t read_most_ = 0;  // 0: as much as there is
  Milliseconds pause_{};
  bool closed_ = false;
  bool reset_ = false;
  std::move_only_function<void()> on_end_;
  TaskGroup tasks_;
};

}  // namespace qq::fakes
