// A request's head as far as it is needed after the first suspension. On the heap and gone before the request
// is relayed: an idle stream keeps none of it.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/frame_pool.h"
#include "downstream/local_endpoints.h"
#include "downstream/refusals.h"
#include "downstream/websocket_upgrade.h"
#include "relay/request.h"
#include "wire/body_reader.h"

namespace qq::downstream {

struct Admitted {
  // It lives beside the frames of the request, and as long.
  static void* operator new(std::size_t size) { return detail::FramePool::allocate(size); }
  static void operator delete(void* admitted, std::size_t size) noexcept {
    detail::FramePool::release(admitted, size);
  }

  relay::IncomingRequest incoming;
  wire::BodyReader reader;
  std::size_t announced = 0;  // the body's length; 0 if it is not known
  bool wants_continue = false;
  // Answered at once, without a provider: with a local answer or an error.
  std::optional<LocalReply> local{};
  std::string local_lines{};
  std::optional<Error> refusal{};
  std::uint16_t refusal_status = 0;  // instead of the one that the error's kind has
  std::unique_ptr<WebsocketUpgrade> upgrade{};
  std::string realtime_lines{};  // RealtimeOpening::reply_lines of what `incoming.realtime` asks for
  std::string what{};            // "GET /nowhere", of what is refused or has a log line of its own
  AskedPath asked{};             // with it
  bool body_unread = false;
};

}  // namespace qq::downstream
