#include "load/generator.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "load/clock.h"
#include "load/process.h"

namespace qq::bench {
namespace {

constexpr std::string_view kMessagesPath = "/v1/messages";

// A chat completion request, or the same one as Anthropic's message when that is where it goes. `stream`
// comes early, where the mock looks for it; the prompt fills up to the wanted size.
std::string make_request(const Options& options) {
  const bool messages = options.path == kMessagesPath;
  std::string body = "{\"model\":\"" + options.model + "\"";
  if (options.stream) {
    body += messages ? R"(,"stream":true)" : R"(,"stream":true,"stream_options":{"include_usage":true})";
  }
  body += R"(,"temperature":0.7,"max_tokens":512,)";
  body += messages ? R"("system":"You are a helpful assistant.","messages":[{"role":"user","content":")"
                   : R"("messages":[{"role":"system","content":"You are a helpful assistant."},)"
                     R"({"role":"user","content":")";
  constexpr std::string_view kEnd = "\"}]}";
  constexpr std::string_view kText =
      "Tell me again how the magpies build a bridge across the river of stars. ";
  for (std::size_t i = 0; body.size() + kEnd.size() < options.body_bytes; ++i)
    body += kText[i % kText.size()];
  body += kEnd;

  std::string head = "POST " + options.path + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(options.port) +
                     "\r\nContent-Type: application/json\r\nAccept: application/json\r\n"
                     "User-Agent: qq_load\r\n";
  if (!options.key.empty()) head += "Authorization: Bearer " + options.key + "\r\n";
  if (messages) head += "anthropic-version: 2023-06-01\r\n";
  for (const std::string& line : options.headers) head += line + "\r\n";
  return head + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

// The end of a stream: chat's mark, or Anthropic's last event.
bool is_last(std::string_view data) {
  return data.ends_with("[DONE]") || data.ends_with("[DONE]\r") || data.ends_with(R"("message_stop"})");
}

}  // namespace

Generator::Generator(const Options& options)
    : options_(options),
      request_(make_request(options)),
      connections_(static_cast<std::size_t>(options.connections)),
      scratch_(256 * 1024),
      epoll_(epoll_create1(EPOLL_CLOEXEC)) {}

Generator::~Generator() {
  for (const Connection& connection : connections_) {
    if (connection.fd >= 0) close(connection.fd);
  }
  close(epoll_);
}

bool Generator::connect(Connection& connection) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(options_.port);
  const int on = 1;
  // Blocking: on the loopback this takes as long as a system call unless the backlog is full.
  if (fd < 0 || ::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    if (results_.first_error.empty()) results_.first_error = std::string("connect: ") + std::strerror(errno);
    if (fd >= 0) close(fd);
    ++results_.errors;
    return false;
  }
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = &connection;
  epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
  connection.fd = fd;
  connection.start = 0;
  connection.reader.reset();
  return true;
}

// Ends the connection and whatever it was doing, and replaces it.
void Generator::drop(Connection& connection, const std::string& why) {
  close(connection.fd);
  connection.fd = -1;
  const bool was_busy = connection.start != 0;
  if (was_busy) {
    ++results_.errors;
    ++finished_;
    if (results_.first_error.empty()) results_.first_error = why;
  }
  if (over() || !connect(connection)) return;
  if (options_.rate > 0) {
    if (was_busy) idle_.push_back(&connection);
  } else {
    ask_again(connection, now_ns());
  }
}

bool Generator::is_our_turn(std::int64_t now) const {
  return options_.turns == 0 || now / options_.turn_length % options_.turns == options_.turn;
}

std::int64_t Generator::next_turn(std::int64_t now) const {
  const std::int64_t number = now / options_.turn_length;
  const std::int64_t ahead = (options_.turn - number % options_.turns + options_.turns) % options_.turns;
  return (number + ahead) * options_.turn_length;
}

void Generator::ask_again(Connection& connection, std::int64_t now) {
  if (is_our_turn(now)) {
    begin(connection, now);
  } else {
    parked_.push_back(&connection);
  }
}

void Generator::begin_turn(std::int64_t now) {
  if (parked_.empty() || !is_our_turn(now)) return;
  for (Connection* const connection : std::exchange(parked_, {})) begin(*connection, now);
}

void Generator::begin(Connection& connection, std::int64_t intended) {
  if (options_.requests > 0 && issued_ == options_.requests) return;
  ++issued_;
  connection.start = intended;
  connection.sent = 0;
  connection.first_event_seen = connection.done_seen = false;
  connection.reader.reset();
  connection.events.reset();
  send_rest(connection);
}

void Generator::send_rest(Connection& connection) {
  const std::size_t left = request_.size() - connection.sent;
  const ssize_t sent =
      send(connection.fd, request_.data() + connection.sent, left, MSG_NOSIGNAL | MSG_DONTWAIT);
  // A peer that has closed shows when we read.
  if (sent < 0 && errno != EAGAIN) return;
  const bool was_short = connection.sent > 0;
  if (sent > 0) connection.sent += static_cast<std::size_t>(sent);
  const bool is_short = connection.sent < request_.size();
  if (was_short == is_short && !is_short) return;
  epoll_event event{};
  event.events = is_short ? EPOLLIN | EPOLLOUT : EPOLLIN;
  event.data.ptr = &connection;
  epoll_ctl(epoll_, EPOLL_CTL_MOD, connection.fd, &event);
}

void Generator::receive(Connection& connection, std::int64_t now) {
  const ssize_t got = recv(connection.fd, scratch_.data(), scratch_.size(), MSG_DONTWAIT);
  if (got < 0 && errno == EAGAIN) return;
  if (got <= 0) {
    if (connection.start != 0) {
      connection.reader.end_of_stream();
      if (connection.reader.state() == MessageReader::State::Done) return finish(connection, now);
    }
    return drop(connection, got < 0 ? std::strerror(errno) : "closed in the middle of an answer");
  }
  if (connection.start == 0) return drop(connection, "bytes that nobody asked for");
  connection.reader.feed(std::string_view(scratch_.data(), static_cast<std::size_t>(got)),
                         [&](std::string_view body) { on_body(connection, body, now); });
  if (connection.reader.state() == MessageReader::State::Broken)
    return drop(connection, "not an HTTP answer");
  if (connection.reader.state() == MessageReader::State::Done) finish(connection, now);
}

void Generator::on_body(Connection& connection, std::string_view body, std::int64_t now) {
  if (connection.reader.status() != 200) {
    if (results_.first_error.empty()) {
      results_.first_error =
          std::to_string(connection.reader.status()) + " " + std::string(body.substr(0, 300));
    }
    return;
  }
  if (!options_.stream) return;
  connection.events.feed(body, [&](std::string_view data) {
    if (is_last(data)) connection.done_seen = true;
    if (!connection.first_event_seen) {
      connection.first_event_seen = true;
      if (in_window_) results_.first_events.push_back(now - connection.start);
    }
    if (!in_window_) return;
    ++results_.events;
    if (const std::int64_t stamp = EventScanner::stamp_in(data); stamp != 0)
      results_.delays.push_back(now - stamp);
  });
}

void Generator::finish(Connection& connection, std::int64_t now) {
  if (connection.reader.status() != 200) {
    ++results_.errors;
    if (results_.first_error.empty())
      results_.first_error = "status " + std::to_string(connection.reader.status());
  } else if (options_.stream && !connection.done_seen) {
    ++results_.errors;
    if (results_.first_error.empty()) results_.first_error = "a stream without its end";
  } else if (in_window_) {
    ++results_.requests;
    results_.latencies.push_back(now - connection.start);
  }
  ++finished_;
  connection.start = 0;
  if (!connection.reader.keep_alive()) return drop(connection, "");
  if (options_.rate == 0) return ask_again(connection, now);
  if (waiting_.empty()) {
    idle_.push_back(&connection);
  } else {
    const std::int64_t intended = waiting_.front();
    waiting_.pop_front();
    begin(connection, intended);
  }
}

void Generator::start_connections(std::int64_t now) {
  while (started_ < connections_.size()) {
    const std::int64_t due =
        begin_time_ + options_.ramp * static_cast<std::int64_t>(started_) / options_.connections;
    if (due > now) return;
    Connection& connection = connections_[started_++];
    if (!connect(connection)) continue;
    if (options_.rate > 0) {
      idle_.push_back(&connection);
    } else {
      ask_again(connection, now);
    }
  }
}

void Generator::schedule_arrival(std::int64_t after) {
  std::exponential_distribution<double> gap(options_.rate / static_cast<double>(kSecond));
  next_arrival_ = after + static_cast<std::int64_t>(gap(random_));
  // The process has no memory, so it may go on in the next turn as if nothing had been between.
  while (!is_our_turn(next_arrival_))
    next_arrival_ = next_turn(next_arrival_) + static_cast<std::int64_t>(gap(random_));
}

void Generator::issue_arrivals(std::int64_t now) {
  while (next_arrival_ <= now) {
    if (idle_.empty()) {
      waiting_.push_back(next_arrival_);
    } else {
      Connection* connection = idle_.back();
      idle_.pop_back();
      begin(*connection, next_arrival_);
    }
    schedule_arrival(next_arrival_);
  }
}

void Generator::cross_window_borders(std::int64_t now) {
  if (!in_window_ && now >= window_begin_) {
    in_window_ = true;
    window_begin_ = now;
    if (options_.pid != 0) {
      processes_ = process_tree(options_.pid);
      results_.cpu = -cpu_ns(processes_);
    }
  }
  const bool time_is_up = options_.requests == 0 && now >= window_begin_ + options_.duration;
  const bool all_done = options_.requests > 0 && finished_ >= options_.requests;
  if (in_window_ && (time_is_up || all_done)) {
    window_end_ = now;
    results_.seconds = static_cast<double>(now - window_begin_) / static_cast<double>(kSecond);
    if (options_.pid != 0) {
      results_.cpu += cpu_ns(processes_);
      results_.resident_end_kib = resident_kib(processes_);
    }
  }
}

bool Generator::over() const {
  return window_end_ != 0;
}

std::int64_t Generator::next_wake(std::int64_t now) const {
  std::int64_t wake = in_window_ ? window_begin_ + options_.duration : window_begin_;
  if (options_.requests > 0) wake = now + kSecond / 10;
  if (started_ < connections_.size()) {
    wake = std::min(wake,
                    begin_time_ + options_.ramp * static_cast<std::int64_t>(started_) / options_.connections);
  }
  if (!parked_.empty()) wake = std::min(wake, next_turn(now));
  return options_.rate > 0 ? std::min(wake, next_arrival_) : wake;
}

Results Generator::run() {
  if (options_.pid != 0) results_.resident_before_kib = resident_kib(process_tree(options_.pid));
  std::vector<epoll_event> ready(512);
  std::int64_t now = now_ns();
  begin_time_ = now;
  if (options_.rate > 0) schedule_arrival(now);
  window_begin_ = options_.requests > 0 ? now : now + options_.warm_up;
  while (true) {
    cross_window_borders(now);
    if (over()) break;
    start_connections(now);
    begin_turn(now);
    const bool all_failed =
        started_ == connections_.size() &&
        std::ranges::all_of(connections_, [](const Connection& connection) { return connection.fd < 0; });
    if (all_failed) break;
    if (options_.rate > 0) issue_arrivals(now);
    const timespec timeout = to_timespec(next_wake(now) - now_ns());
    const int count = epoll_pwait2(epoll_, ready.data(), static_cast<int>(ready.size()), &timeout, nullptr);
    now = now_ns();
    for (int i = 0; i < count; ++i) {
      auto& connection = *static_cast<Connection*>(ready[static_cast<std::size_t>(i)].data.ptr);
      const std::uint32_t events = ready[static_cast<std::size_t>(i)].events;
      if ((events & EPOLLOUT) != 0) send_rest(connection);
      if ((events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0) receive(connection, now);
    }
    now = now_ns();
  }
  results_.open = static_cast<std::uint64_t>(std::ranges::count_if(
      connections_, [](const Connection& connection) { return connection.start != 0; }));
  return std::move(results_);
}

}  // namespace qq::bench
