// One request from its admission to its end. The story, in order:
//
//   admit.h     who asks, for which endpoint, may they?        (before the body is read)
//   request.cc  the body: what does it ask, which route, which plan?
//   attempts.h  the one loop over targets
//   answer.h    a whole answer: hold, judge, deliver           } one attempt's reply
//   stream.h    a streamed answer: judge event by event, relay }
//   binary_answer.h  one that is no JSON: relay                }
//   realtime.h       a WebSocket's 101: relay both ways        }
//   settle.h    what happened: the record for log, metrics and bills
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "admission/key_ring.h"
#include "base/frame_allocator.h"
#include "base/ids.h"
#include "dialects/openai/request.h"
#include "model/attempt.h"
#include "model/plan.h"
#include "relay/body_budget.h"
#include "relay/called.h"
#include "relay/client_port.h"
#include "relay/drain_place.h"
#include "relay/heartbeat.h"
#include "relay/loop_services.h"

namespace qq::relay {

struct HeldCall;
struct StoredCall;
struct RealtimeCall;

// What is known when the head was admitted and the body has arrived.
struct IncomingRequest {
  RequestId id;
  WallTime wall_started{};
  MonotonicTime started{};
  model::Endpoint endpoint = model::Endpoint::ChatCompletions;
  std::shared_ptr<const Snapshot> snapshot;
  const admission::KeyEntry* key = nullptr;  // owned by the snapshot; never null when it is relayed
  std::string_view method = "POST";          // static text
  std::string_view path;                     // static text of the endpoint
  std::unique_ptr<NativeHead> native;        // null for OpenAI's with a JSON body
  std::unique_ptr<StoredCall> stored;        // asked of the store, not of a model (stored_objects.h)
  std::unique_ptr<RealtimeCall> realtime;    // of Realtime alone (socket_port.h)
  std::unique_ptr<HeldCall> held;            // about what a provider keeps (held/serve_held.h)
  std::string header_lines;                  // to forward upstream where the request passes through
  std::string body;                          // freed when it cannot be needed again
  std::size_t body_bytes = 0;
  BodyBudget budget{};  // of `body`

  void free_body() noexcept { budget.release(std::exchange(body, {})); }

  // Out of line, where these calls are known.
  IncomingRequest();
  IncomingRequest(IncomingRequest&&) noexcept;
  ~IncomingRequest();
};

class PlainTranslation;
class Translation;
struct ResponseKeeping;

// The state of a request while it is relayed; lives in the frame of `relay_request`.
struct RequestState {
  LoopServices& services;
  ClientPort& client;
  IncomingRequest& incoming;
  const Snapshot& snapshot;

  dialects::openai::RequestFacts facts{};
  model::Plan plan{};
  std::vector<model::Attempt, FrameAllocator<model::Attempt>> attempts{};
  MonotonicTime deadline = kNever;

  bool estimates = false;        // a count of tokens that no target can make
  bool delivered = false;        // the commit point is passed
  bool is_repeat = false;        // the running attempt has a place of the retry budget
  bool empty_asked_for = false;  // the running attempt's empty answer may be just that; see empty_reply.h
  bool interrupted = false;      // an in-band error event or a cut ended what had begun
  // Of the running attempt, if it is a breaker's probe that is not settled yet.
  const resilience::TargetHealth::Admission* probe = nullptr;
  std::optional<MonotonicTime> first_content{};
  std::optional<Error> error{};  // what the client was told, or why it ended early
  // The client was lost while a provider's failure was on its way to it; that failure is its attempt's.
  std::unique_ptr<Error> lost_client{};
  std::string finish_reason{};  // of the running attempt, or the last one
  std::chrono::nanoseconds upstream_wait{};
  std::optional<Heartbeat> heartbeat{};                   // streams only
  std::unique_ptr<Translation> translation{};             // made when the first target needs it
  std::unique_ptr<PlainTranslation> plain_translation{};  // the same of what is no conversation
  std::unique_ptr<ResponseKeeping> keeping{};             // of a response that is to be kept
  std::unique_ptr<DrainPlace> drain_place{};              // of a client that has left; see usage_drain.h

  // Out of line, where the translation is known.
  RequestState(LoopServices& services_, ClientPort& client_, IncomingRequest& incoming_);
  ~RequestState();
  RequestState(const RequestState&) = delete;
  RequestState& operator=(const RequestState&) = delete;

  [[nodiscard]] net::Scope scope() const noexcept { return {deadline, &client.gone()}; }
  // A stream that is one JSON array.
  [[nodiscard]] bool array_stream() const noexcept {
    return incoming.native && incoming.native->array_stream;
  }
};

// Relays one request and answers the client, whatever happens. `incoming.body` is complete.
Task<void> relay_request(LoopServices& services, IncomingRequest incoming, ClientPort& client);

}  // namespace qq::relay
