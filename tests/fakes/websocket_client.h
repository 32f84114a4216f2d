// The client's half of a WebSocket over a Client: opens, says frames, and sorts what came.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fakes/client.h"
#include "wire/websocket.h"

namespace qq::fakes {

class WebsocketClient {
 public:
  static constexpr std::string_view kKey = "dGhlIHNhbXBsZSBub25jZQ==";

  explicit WebsocketClient(Client& client) noexcept : client_(client) {}

  // Connects and asks for the upgrade; what is said next waits for the connection, not for the 101.
  // `header_lines`: complete lines. `behind`: bytes that leave together with the head.
  void open(std::string_view header_lines, std::string_view behind = {},
            std::string_view target = "/v1/chat/completions");
  [[nodiscard]] Client& client() noexcept { return client_; }

  void say(std::string_view text) { say_frame(wire::WebsocketOpcode::Text, text); }
  void say_frame(wire::WebsocketOpcode opcode, std::string_view payload, wire::Fin fin = wire::Fin::Yes);
  void say_close(wire::WebsocketClose code, std::string_view reason = {});
  static std::string frame(wire::WebsocketOpcode opcode, std::string_view payload,
                           wire::Fin fin = wire::Fin::Yes);

  // Sorts what has come since; answers pings if it is to.
  void look();
  void answer_pings(bool answers = true) noexcept { answers_pings_ = answers; }

  // As of the last look.
  [[nodiscard]] const std::string& head() const noexcept { return head_; }  // with its empty line
  [[nodiscard]] const std::vector<std::string>& messages() const noexcept { return messages_; }
  [[nodiscard]] const std::vector<std::string>& pongs() const noexcept { return pongs_; }
  [[nodiscard]] std::size_t pings() const noexcept { return pings_; }
  // "1001 the reason", empty while there was no Close.
  [[nodiscard]] const std::string& close() const noexcept { return close_; }
  // What a strict reader complains of.
  [[nodiscard]] const std::string& fault() const noexcept { return fault_; }

 private:
  Client& client_;
  wire::WebsocketReader reader_{wire::WebsocketReader::From::Server, 64U << 20U};
  std::size_t taken_ = 0;  // of the client's raw bytes
  std::string head_;
  std::vector<std::string> messages_;
  std::vector<std::string> pongs_;
  std::size_t pings_ = 0;
  std::string close_;
  std::string fault_;
  bool answers_pings_ = false;
};

}  // namespace qq::fakes
