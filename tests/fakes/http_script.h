// A ScriptedUpstream that answers whole HTTP requests, one after the other, with replies that the test has
// put down.
#pragma once
#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include "fakes/scripted_upstream.h"

namespace qq::fakes {

class HttpScript {
 public:
  struct Reply {
    int status = 200;
    std::string body{};
    Milliseconds delay{0};
    bool silent = false;  // none at all
    bool closes = false;  // none, and the connection ends
    std::string content_type = "application/json";
    std::size_t piece = 0;  // the body comes in pieces of so many bytes, a second apart; 0: at once
    std::size_t cut = std::string::npos;  // the connection ends behind so many bytes of the body
    std::string header_lines{};           // more of them, each with CRLF
  };

  HttpScript(net::EventLoop& loop, std::string_view address)
      : server_(loop, net::Address::parse(std::string(address)).value(), &serve) {
    all().push_back(this);
  }
  ~HttpScript() { std::erase(all(), this); }
  HttpScript(const HttpScript&) = delete;
  HttpScript& operator=(const HttpScript&) = delete;

  // The n-th request gets the n-th reply; the last one is for all that follow.
  std::vector<Reply> replies;
  std::vector<std::string> requests;  // whole, heads and bodies

  [[nodiscard]] bool idle() const noexcept { return server_.idle(); }
  [[nodiscard]] int connections() const noexcept { return server_.connections(); }

 private:
  // Scripts are functions without captures: this is how they find whose they are.
  static std::vector<HttpScript*>& all() {
    static std::vector<HttpScript*> scripts;
    return scripts;
  }
  static HttpScript& owner_of(const ScriptedUpstream& server) {
    const auto found =
        std::ranges::find_if(all(), [&](const HttpScript* script) { return &script->server_ == &server; });
    QQ_ASSERT(found != all().end());
    return **found;
  }

  // Nothing at the end of the connection.
  static Task<std::optional<std::string>> read_request(ScriptedUpstream& server, net::Stream& stream) {
    std::string received;
    std::size_t head_end = std::string::npos;
    while (head_end == std::string::npos) {
      const bool more = co_await ScriptedUpstream::read_into(server, stream, received, received.size() + 1);
      if (!more) co_return std::nullopt;
      head_end = received.find("\r\n\r\n");
    }
    const std::size_t body_at = head_end + 4;
    constexpr std::string_view kLength = "content-length: ";
    const std::size_t length_at = received.find(kLength);
    std::size_t length = 0;
    if (length_at < head_end) {
      std::from_chars(received.data() + length_at + kLength.size(), received.data() + body_at, length);
    }
    const bool whole = co_await ScriptedUpstream::read_into(server, stream, received, body_at + length);
    if (!whole) co_return std::nullopt;
    co_return received;
  }

  static Task<void> serve(ScriptedUpstream& server, net::Stream& stream) {
    HttpScript& self = owner_of(server);
    for (;;) {
      std::optional<std::string> request = co_await read_request(server, stream);
      if (!request) co_return;
      const Reply reply = self.replies.at(std::min(self.requests.size(), self.replies.size() - 1));
      self.requests.push_back(*std::move(request));
      if (reply.silent) continue;  // until the other end gives up
      if (reply.closes) co_return;
      if (reply.delay.count() > 0) co_await ScriptedUpstream::pause(server, reply.delay);
      std::string bytes =
          "HTTP/1.1 " + std::to_string(reply.status) + " X\r\ncontent-type: " + reply.content_type +
          "\r\ncontent-length: " + std::to_string(reply.body.size()) + "\r\n" + reply.header_lines + "\r\n";
      const std::string body = reply.body.substr(0, reply.cut);
      const std::size_t piece = reply.piece == 0 ? std::max<std::size_t>(body.size(), 1) : reply.piece;
      bytes += body.substr(0, piece);
      const bool sent = co_await ScriptedUpstream::write(stream, std::move(bytes));
      if (!sent) co_return;
      for (std::size_t at = piece; at < body.size(); at += piece) {
        co_await ScriptedUpstream::pause(server, Milliseconds(1'000));
        const bool goes_on = co_await ScriptedUpstream::write(stream, body.substr(at, piece));
        if (!goes_on) co_return;
      }
      if (reply.cut != std::string::npos) co_return;
    }
  }

  ScriptedUpstream server_;
};

}  // namespace qq::fakes
