// The two directions of a Realtime connection behind its 101, and its end; see realtime.h.
//
//   realtime_client_side.cc    what the client says
//   realtime_provider_side.cc  what the provider says
//   realtime_relay.cc          the end of both
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/task.h"
#include "dialects/openai/realtime.h"
#include "relay/body_budget.h"
#include "relay/provider_socket.h"
#include "relay/realtime_meter.h"
#include "relay/socket_port.h"
#include "relay/upstream_client.h"
#include "wire/websocket.h"

namespace qq::relay {

// Why and how a connection ends: the first reason stays.
struct Ending {
  std::optional<Error> error{};  // nothing: as it should
  wire::WebsocketClose to_client = wire::WebsocketClose::Normal;
  wire::WebsocketClose to_provider = wire::WebsocketClose::Normal;
  std::string reason{};      // for whoever did not give it
  bool client_lost = false;  // there is nobody to say it to
  bool provider_lost = false;
  bool by_provider = false;  // it has said its Close
  bool tells_error = false;  // the client reads an event before its Close
};

class RealtimeRelay final : public SocketPort::Watcher {
 public:
  // `reply`: a 101 that was checked. The client has its own.
  RealtimeRelay(RequestState& state, model::Attempt& attempt, UpstreamReply& reply);
  RealtimeRelay(const RealtimeRelay&) = delete;
  RealtimeRelay& operator=(const RealtimeRelay&) = delete;
  ~RealtimeRelay() { client_.watch(nullptr); }

  Task<Result<>> run();

  void asked_to_finish() noexcept override {
    finishing_ = true;
    finish_if_idle();
  }
  void cut() noexcept override;

 private:
  // Reads in one turn of the loop, 64 KiB each, before the others of the loop have theirs.
  static constexpr int kReadsInTurn = 16;

  [[nodiscard]] bool over() const noexcept { return stop_.cancelled(); }
  void end(Ending ending);
  void finish_if_idle();
  void client_lost(Error error);
  void provider_lost(ErrorKind kind, std::string text);

  static Task<void> from_client(RealtimeRelay& self);
  std::size_t take_from_client(std::string_view bytes);
  void take_client_event(const wire::WebsocketReader::Event& event);
  void take_client_message(std::string message);
  void refuse(const Error& error, std::string_view event_id);
  bool key_still_holds();
  Task<void> flush_to_provider();
  [[nodiscard]] MonotonicTime client_deadline() const noexcept;
  void check_client();

  Task<void> from_provider();
  std::size_t take_from_provider(std::string_view bytes);
  void take_provider_event(const wire::WebsocketReader::Event& event);
  void take_provider_message(std::string message);
  [[nodiscard]] std::string shown(std::string_view message,
                                  const dialects::openai::RealtimeEvent& event) const;
  Task<void> flush_to_client();
  [[nodiscard]] MonotonicTime provider_deadline() const noexcept;
  void check_provider();

  void say_to_client(wire::WebsocketOpcode opcode, std::string_view payload);
  void wake_the_other() noexcept { wake_->cancel(ErrorKind::Cancelled); }
  bool has_room(const wire::WebsocketReader& reader, BodyBudget& budget);

  Task<void> part();
  Task<void> hear_provider_out(net::Scope scope);
  bool hear(std::string_view bytes);

  RequestState& state_;
  model::Attempt& attempt_;
  UpstreamReply& reply_;
  RealtimeCall& call_;
  SocketPort& client_;
  net::EventLoop& loop_;
  ProviderSocket provider_;
  RealtimeMeter meter_;
  wire::JsonLimits limits_;
  std::string_view shown_name_;  // instead of the provider's; empty: that is the same
  wire::WebsocketReader client_reader_;
  wire::WebsocketReader provider_reader_;
  BodyBudget client_budget_;
  BodyBudget provider_budget_;
  net::Cancellation stop_;                 // both directions end
  std::optional<net::Cancellation> wake_;  // whoever reads the provider looks after the client
  std::optional<Ending> ending_;
  std::shared_ptr<const Snapshot> keys_of_;  // the newest configuration that knows the key
  std::string provider_held_;  // read of it, and to be looked at when the client took what came before
  MonotonicTime opened_;
  MonotonicTime client_heard_;                   // a whole frame of any kind
  std::optional<MonotonicTime> arriving_since_;  // of a message of the client's that is not whole
  MonotonicTime provider_heard_;                 // a message
  MonotonicTime last_message_;                   // of either
  bool greeted_ = false;                         // the provider's first message was there
  bool pinged_ = false;                          // since the client was heard last
  bool finishing_ = false;
  bool parting_ = false;
  TaskGroup tasks_;
};

// What a provider did wrong behind its 101.
inline Error provider_fault(ErrorKind kind, std::string text) {
  return Error::upstream(kind, AttemptPhase::ReplyBegun, std::move(text));
}

}  // namespace qq::relay
