// What went wrong, as facts only: whose fault it is, how far the attempt had come, when to try again.
// What to do about it is decided by resilience/next_step; how a caller reads it by dialects/.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace qq {

enum class ErrorKind : std::uint8_t {
  // The caller's request.
  InvalidRequest,  // malformed HTTP, JSON or field
  Unauthorized,    // no key, or one we don't know
  Forbidden,       // a known key that may not do this; from a provider: ours may not
  NotFound,        // no such path or model here
  MethodNotAllowed,
  PayloadTooLarge,
  RequestTimeout,  // the client was too slow to send its request
  ClientGone,      // the client hung up
  ClientStalled,   // the client stopped reading
  // Reaching the provider.
  DnsFailed,
  ConnectFailed,  // refused, unreachable, reset at SYN
  ConnectTimeout,
  TlsFailed,     // certificate, host name, alert
  EgressDenied,  // the egress guard refused the address
  EarlyClose,    // closed before the first byte of the reply
  Reset,         // reset by the peer while sending or receiving
  SendTimeout,
  FirstByteTimeout,
  FirstContentTimeout,
  EventGapTimeout,
  TotalTimeout,  // the request's deadline
  // What the provider said.
  RateLimited,     // 429 that passes with time
  QuotaExhausted,  // 429 or 402 that waiting does not cure
  CredentialDead,  // our key at the provider is refused
  ModelMissing,    // the provider does not know the model
  Refused,         // any other 4xx: the caller's own doing
  Overloaded,      // 503, 529
  ServerError,     // any other 5xx
  // How the provider said it.
  BadFrame,        // broken HTTP: lengths, chunks, head
  BadContentType,  // HTML, 204, 302: not an answer
  DecodeFailed,    // broken gzip, or a bomb
  BodyCut,         // the body ended before its declared end
  StreamCut,       // a stream ended without its terminal event
  StreamError,     // an error object inside a 200
  EventTooBig,
  EmptyReply,  // 200 with nothing in it
  BadJson,     // a complete body that is not JSON
  // Ourselves.
  NoTarget,   // every candidate is open, cooling down or dead
  Saturated,  // a limit of ours: memory, descriptors, bodies in flight
  ShuttingDown,
  Cancelled,
  Config,
  Internal,
};
// "connect_failed" for ConnectFailed: the word in logs, metrics and the attempts header.
std::string_view to_string(ErrorKind kind) noexcept;

enum class ErrorOrigin : std::uint8_t { Client, Upstream, Gateway };
std::string_view to_string(ErrorOrigin origin) noexcept;

// How far an attempt had come. Only `NotSent` proves that the provider did no work.
enum class AttemptPhase : std::uint8_t { NotSent, SentNoReply, ReplyBegun };
std::string_view to_string(AttemptPhase phase) noexcept;

struct Error {
  ErrorKind kind = ErrorKind::Internal;
  ErrorOrigin origin = ErrorOrigin::Gateway;
  AttemptPhase phase = AttemptPhase::NotSent;
  std::uint16_t upstream_status = 0;  // 0: no status line was read
  std::optional<std::chrono::milliseconds> retry_after{};
  std::string message{};  // what was wrong and what to change; never a key or a prompt
  std::string param{};    // the field of the caller's request, e.g. "messages[0].role"; may be empty
  // The words of a provider that answered in OpenAI's shape, or ours for a caller's mistake; may be empty.
  std::string type{};  // "invalid_request_error"
  std::string code{};  // "context_length_exceeded"
  std::string
      object{};  // the provider's whole error object as JSON with keys masked, handed on to the caller

  Error() = default;
  Error(ErrorKind error_kind, ErrorOrigin error_origin, std::string text)
      : kind(error_kind), origin(error_origin), message(std::move(text)) {}

  static Error client(ErrorKind kind, std::string text, std::string field = {}) {
    Error error(kind, ErrorOrigin::Client, std::move(text));
    error.param = std::move(field);
    return error;
  }
  static Error upstream(ErrorKind kind, AttemptPhase phase, std::string text) {
    Error error(kind, ErrorOrigin::Upstream, std::move(text));
    error.phase = phase;
    return error;
  }
  static Error gateway(ErrorKind kind, std::string text) {
    return Error(kind, ErrorOrigin::Gateway, std::move(text));
  }
};

}  // namespace qq
