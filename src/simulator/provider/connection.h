// One connection of the simulated provider: reads requests, plays what `respond` and `compose` made of
// them, ends as the play says.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "base/task.h"
#include "net/stream.h"
#include "simulator/provider/compose.h"
#include "simulator/provider/provider_simulator.h"
#include "wire/http_head.h"

namespace qq::simulator {

class Connection {
 public:
  Connection(ProviderSimulator& simulator, std::unique_ptr<net::Stream> stream);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  // Until the connection ends; the stream is closed when this object dies.
  Task<void> run();
  void cancel() noexcept { cancel_.cancel(ErrorKind::ShuttingDown); }

 private:
  Task<bool> obey(ConnectionOrder order);
  Task<bool> shake_hands();
  Task<bool> serve_one();
  Task<bool> read_more();
  // Appends the body to `body`, up to the limit of the options.
  enum class BodyRead : std::uint8_t { Complete, TooLarge, Broken };
  Task<BodyRead> read_body(wire::Framing framing, std::string& body);
  Task<bool> reply_to(std::string raw_head, std::string body, bool early);
  Task<void> serve_realtime(std::string model, Script script, std::string accept, std::uint64_t seen);
  Task<bool> finish(PlayEnd end);
  Task<void> linger();
  Task<bool> send_plain(Reply reply, AskedFraming framing);

  ProviderSimulator& simulator_;
  net::EventLoop& loop_;
  std::unique_ptr<net::Stream> stream_;
  net::Cancellation cancel_;
  net::Scope scope_;
  std::string input_;  // read and not yet used
  std::uint64_t id_;
  bool control_ = false;
};

}  // namespace qq::simulator
