// qq_mock: a provider that costs next to nothing (2-3 us a request), for benchmarks. One thread, one
// epoll loop. Every request gets a chat completion, or an event stream if its first 2,048 body bytes hold
// "stream":true. It does not pipeline and judges nothing; the product's own `sim-provider` does.
//
//   qq_mock PORT:delay_us:events:events_per_write:interval_us ...
//
// delay_us passes before an answer starts; a stream has `events` stamped deltas, written
// `events_per_write` at a time every interval_us. PORT 0 lets the kernel choose. The first line on
// stdout names the ports once they listen. Runs until it is killed.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "load/clock.h"
#include "load/message_reader.h"
#include "load/mock_answers.h"

namespace qq::bench {
namespace {

constexpr std::size_t kLookForStream = 2048;

// Delays are the same for every connection of a port, so a queue in order of arrival is a timer queue.
struct Wait {
  std::int64_t due;
  int fd;
  std::uint64_t generation;  // the connection may be gone, and its number taken again
};

struct Port {
  std::uint16_t number = 0;
  std::int64_t delay = 0;
  int events = 0;
  int events_per_write = 1;
  std::int64_t interval = 0;
  int listener = -1;
  std::deque<Wait> starting, streaming;
};

struct Connection {
  Port* port;
  std::uint64_t generation;
  MessageReader reader{MessageReader::Kind::Request};
  std::string body_start;
  std::string unsent;
  int events_left = 0;
  bool stream = false;
  bool keep_alive = true;
};

class Mock {
 public:
  explicit Mock(std::vector<Port> ports) : ports_(std::move(ports)), scratch_(256 * 1024) {}

  bool listen_all();
  [[noreturn]] void run();

 private:
  void accept_from(Port& port);
  void read_from(int fd);
  void start_answer(int fd);
  void write_events(int fd);
  void send_bytes(int fd, std::string_view bytes);
  void flush(int fd);
  void close_connection(int fd);
  void watch(int fd, std::uint32_t events, int operation) const;
  void serve_due(std::deque<Wait>& waits, void (Mock::*serve)(int), std::int64_t now);
  [[nodiscard]] std::int64_t next_due() const;
  Connection* find(int fd) {
    return static_cast<std::size_t>(fd) < connections_.size()
               ? connections_[static_cast<std::size_t>(fd)].get()
               : nullptr;
  }

  std::vector<Port> ports_;
  std::vector<std::unique_ptr<Connection>> connections_;  // by descriptor
  std::vector<char> scratch_;
  std::string out_;
  std::string completion_ = completion_answer();
  std::string stream_head_ = stream_head();
  std::string stream_end_ = stream_end();
  std::uint64_t generation_ = 0;
  int epoll_ = epoll_create1(EPOLL_CLOEXEC);
};

void Mock::watch(int fd, std::uint32_t events, int operation) const {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  epoll_ctl(epoll_, operation, fd, &event);
}

bool Mock::listen_all() {
  std::string line = "{\"ports\":[";
  for (Port& port : ports_) {
    port.listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const int on = 1;
    setsockopt(port.listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port.number);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (bind(port.listener, generic, size) != 0 || listen(port.listener, 16384) != 0) {
      std::perror("qq_mock: bind or listen");
      return false;
    }
    getsockname(port.listener, generic, &size);
    watch(port.listener, EPOLLIN, EPOLL_CTL_ADD);
    if (line.back() != '[') line += ',';
    line += std::to_string(ntohs(address.sin_port));
  }
  std::puts((line + "]}").c_str());
  std::fflush(stdout);
  return true;
}

void Mock::accept_from(Port& port) {
  while (true) {
    const int fd = accept4(port.listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connections_.size() <= static_cast<std::size_t>(fd))
      connections_.resize(static_cast<std::size_t>(fd) + 1);
    connections_[static_cast<std::size_t>(fd)] =
        std::make_unique<Connection>(Connection{&port, ++generation_});
    watch(fd, EPOLLIN, EPOLL_CTL_ADD);
  }
}

void Mock::close_connection(int fd) {
  connections_[static_cast<std::size_t>(fd)].reset();
  close(fd);
}

void Mock::read_from(int fd) {
  Connection* connection = find(fd);
  const ssize_t got = recv(fd, scratch_.data(), scratch_.size(), 0);
  if (got < 0 && errno == EAGAIN) return;
  if (got <= 0) return close_connection(fd);
  std::string_view bytes(scratch_.data(), static_cast<std::size_t>(got));
  while (connection != nullptr && !bytes.empty()) {
    std::string& start = connection->body_start;
    bytes.remove_prefix(connection->reader.feed(bytes, [&start](std::string_view body) {
      if (start.size() < kLookForStream) start.append(body.substr(0, kLookForStream - start.size()));
    }));
    if (connection->reader.state() == MessageReader::State::Broken) return close_connection(fd);
    if (connection->reader.state() != MessageReader::State::Done) return;
    connection->stream = start.find("\"stream\":true") != std::string::npos ||
                         start.find("\"stream\": true") != std::string::npos;
    connection->keep_alive = connection->reader.keep_alive();
    connection->reader.reset();
    start.clear();
    Port& port = *connection->port;
    if (port.delay > 0) {
      port.starting.push_back({now_ns() + port.delay, fd, connection->generation});
    } else {
      start_answer(fd);
    }
    connection = find(fd);
  }
}

void Mock::start_answer(int fd) {
  Connection& connection = *find(fd);
  if (connection.stream) {
    connection.events_left = connection.port->events;
    out_ = stream_head_;
    return write_events(fd);
  }
  send_bytes(fd, completion_);
  if (find(fd) != nullptr && !connection.keep_alive && connection.unsent.empty()) close_connection(fd);
}

// Sends what `out_` holds (the head, at first) and the next events in one write.
void Mock::write_events(int fd) {
  Connection& connection = *find(fd);
  Port& port = *connection.port;
  const std::int64_t now = now_ns();
  for (int i = 0; i < port.events_per_write && connection.events_left > 0; ++i, --connection.events_left) {
    append_delta_event(out_, now);
  }
  const bool last = connection.events_left == 0;
  if (last) out_ += stream_end_;
  send_bytes(fd, out_);
  out_.clear();
  if (find(fd) == nullptr) return;
  if (!last) {
    port.streaming.push_back({now + port.interval, fd, connection.generation});
  } else if (!connection.keep_alive && connection.unsent.empty()) {
    close_connection(fd);
  }
}

void Mock::send_bytes(int fd, std::string_view bytes) {
  Connection& connection = *find(fd);
  if (connection.unsent.empty()) {
    const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent == static_cast<ssize_t>(bytes.size())) return;
    if (sent < 0 && errno != EAGAIN) return close_connection(fd);
    if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
    watch(fd, EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD);
  }
  connection.unsent.append(bytes);
}

void Mock::flush(int fd) {
  Connection& connection = *find(fd);
  const ssize_t sent = send(fd, connection.unsent.data(), connection.unsent.size(), MSG_NOSIGNAL);
  if (sent < 0 && errno != EAGAIN) return close_connection(fd);
  if (sent > 0) connection.unsent.erase(0, static_cast<std::size_t>(sent));
  if (!connection.unsent.empty()) return;
  watch(fd, EPOLLIN, EPOLL_CTL_MOD);
  if (!connection.keep_alive && connection.events_left == 0) close_connection(fd);
}

void Mock::serve_due(std::deque<Wait>& waits, void (Mock::*serve)(int), std::int64_t now) {
  while (!waits.empty() && waits.front().due <= now) {
    const Wait wait = waits.front();
    waits.pop_front();
    const Connection* connection = find(wait.fd);
    if (connection != nullptr && connection->generation == wait.generation) (this->*serve)(wait.fd);
  }
}

std::int64_t Mock::next_due() const {
  std::int64_t due = now_ns() + 60 * kSecond;
  for (const Port& port : ports_) {
    if (!port.starting.empty()) due = std::min(due, port.starting.front().due);
    if (!port.streaming.empty()) due = std::min(due, port.streaming.front().due);
  }
  return due;
}

void Mock::run() {
  std::vector<epoll_event> ready(512);
  while (true) {
    const timespec timeout = to_timespec(next_due() - now_ns());
    const int count = epoll_pwait2(epoll_, ready.data(), static_cast<int>(ready.size()), &timeout, nullptr);
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = ready[static_cast<std::size_t>(i)];
      const int fd = event.data.fd;
      const auto port = std::ranges::find(ports_, fd, &Port::listener);
      if (port != ports_.end()) {
        accept_from(*port);
        continue;
      }
      if ((event.events & EPOLLOUT) != 0 && find(fd) != nullptr) flush(fd);
      if ((event.events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0 && find(fd) != nullptr) read_from(fd);
    }
    const std::int64_t now = now_ns();
    for (Port& port : ports_) {
      serve_due(port.starting, &Mock::start_answer, now);
      serve_due(port.streaming, &Mock::write_events, now);
    }
  }
}

bool parse_port(const char* text, Port& port) {
  std::int64_t delay_us = 0;
  std::int64_t interval_us = 0;
  const int fields = std::sscanf(text, "%" SCNu16 ":%" SCNd64 ":%d:%d:%" SCNd64, &port.number, &delay_us,
                                 &port.events, &port.events_per_write, &interval_us);
  port.delay = delay_us * 1000;
  port.interval = interval_us * 1000;
  return fields == 5 && port.events_per_write > 0;
}

}  // namespace
}  // namespace qq::bench

int main(int argc, char** argv) {
  std::vector<qq::bench::Port> ports;
  for (int i = 1; i < argc; ++i) {
    if (!qq::bench::parse_port(argv[i], ports.emplace_back())) ports.clear();
    if (ports.empty()) break;
  }
  if (ports.empty()) {
    std::fputs("usage: qq_mock PORT:delay_us:events:events_per_write:interval_us ...\n", stderr);
    return 2;
  }
  qq::bench::ask_for_exact_timers();
  qq::bench::Mock mock(std::move(ports));
  if (!mock.listen_all()) return 1;
  mock.run();
}
