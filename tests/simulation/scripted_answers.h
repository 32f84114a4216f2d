// A provider that gives the answers of a test, whatever it is asked: the next of a list each time, the last
// one for ever.
#pragma once
#include <fmt/format.h>

#include <string>
#include <vector>

#include "fakes/scripted_upstream.h"
#include "simulation/fault_case.h"

namespace qq::simulation {

// Stands in for p0.
inline WorldSetup scripted_setup() {
  WorldSetup setup;
  setup.base_host = "127.0.0.2";
  return setup;
}

class ScriptedAnswers {
 public:
  // Whole replies, heads included. A connection is closed behind each.
  ScriptedAnswers(World& world, std::vector<std::string> answers)
      : server_(world.loop(), net::Address::parse("127.0.0.2:9001").value(), &serve) {
    answers_ = std::move(answers);
    asked_ = 0;
  }
  ScriptedAnswers(World& world, std::string answer)
      : ScriptedAnswers(world, std::vector{std::move(answer)}) {}

  static std::string whole(std::string_view body, std::string_view header_lines = {}) {
    return fmt::format(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n{}content-length: {}\r\nconnection: "
        "close\r\n\r\n{}",
        header_lines, body.size(), body);
  }
  // Ends with the connection. `declared` more bytes are promised than come: a cut.
  static std::string stream(std::string_view events, std::size_t missing = 0) {
    return fmt::format(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\nconnection: "
        "close\r\n\r\n{}",
        events.size() + missing, events);
  }

 private:
  static Task<void> serve(fakes::ScriptedUpstream& server, net::Stream& stream) {
    const std::size_t begin = server.received().size();
    for (bool more = true; more && !is_whole(std::string_view(server.received()).substr(begin));) {
      more = co_await fakes::ScriptedUpstream::read_to(server, stream, server.received().size() + 1);
    }
    std::string answer = answers_[std::min(asked_++, answers_.size() - 1)];
    co_await fakes::ScriptedUpstream::write(stream, std::move(answer));
    constexpr Milliseconds kWhile{5};
    co_await fakes::ScriptedUpstream::pause(server, kWhile);
  }
  static bool is_whole(std::string_view request) {
    const std::size_t head = request.find("\r\n\r\n");
    const std::size_t length = request.find("content-length: ");
    if (head == std::string_view::npos || length == std::string_view::npos) return false;
    return request.size() >= head + 4 + std::strtoul(request.data() + length + 16, nullptr, 10);
  }

  // Scripts are plain functions; one test runs at a time.
  static inline std::vector<std::string> answers_;
  static inline std::size_t asked_ = 0;
  fakes::ScriptedUpstream server_;
};

}  // namespace qq::simulation
