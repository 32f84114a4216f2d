#include "downstream/refusals.h"

#include <fmt/format.h>

#include "base/time.h"
#include "downstream/realtime_opening.h"
#include "relay/called.h"
#include "relay/held/held_call.h"
#include "relay/stored_objects.h"

namespace qq::downstream {

Error too_large(std::size_t body_max) {
  return Error::client(
      ErrorKind::PayloadTooLarge,
      fmt::format("the request body is larger than this gateway takes ({} bytes, limits.body_max); send less",
                  body_max));
}

Error malformed_head(const wire::HeadVerdict& verdict, const wire::HeadLimits& limits) {
  std::string text = fmt::format("malformed HTTP request: {}", verdict.reason);
  if (verdict.limit == wire::HeadVerdict::Limit::Head) {
    text = fmt::format("{}; this gateway takes {} bytes of request line and headers (limits.head_max)",
                       verdict.reason, limits.head_max);
  } else if (verdict.limit == wire::HeadVerdict::Limit::Line) {
    text = fmt::format("{}; this gateway takes {} bytes", verdict.reason, limits.line_max);
  } else if (verdict.limit == wire::HeadVerdict::Limit::Fields) {
    text = fmt::format("{}; this gateway takes {}", verdict.reason, wire::kFieldsMax);
  }
  return Error::client(ErrorKind::InvalidRequest, std::move(text));
}

std::string_view allowed_methods(std::string_view path) noexcept {
  if (const std::string_view stored = relay::stored_methods(path); !stored.empty()) return stored;
  if (path == kRealtimePath) return "GET";
  if (const std::string_view held = relay::held_methods(path); !held.empty()) return held;
  return relay::is_endpoint(path) ? "POST" : "GET, HEAD";
}

AskedPath AskedPath::at(std::string_view path) noexcept {
  return {relay::dialect_of_path(path), allowed_methods(path)};
}

AskedPath AskedPath::of(const wire::RequestHead& head) noexcept {
  return {relay::dialect_of_head(head), allowed_methods(head.path())};
}

Error saturated(std::string text) {
  Error error = Error::gateway(ErrorKind::Saturated, std::move(text));
  error.retry_after = Milliseconds{1'000};
  return error;
}

Error short_of_memory() {
  return saturated("the gateway is short of memory; try again shortly");
}

Error too_slow() {
  return Error::client(ErrorKind::RequestTimeout,
                       "the request body came too slowly; send at least 1 KiB a second");
}

Error too_many_bodies() {
  return saturated("too many large requests are in flight (limits.bodies_in_flight_max); try again shortly");
}

Error malformed_body(const char* reason) {
  return Error::client(ErrorKind::InvalidRequest, fmt::format("malformed request body: {}", reason));
}

Error client_left_inside() {
  return Error::client(ErrorKind::ClientGone, "the client closed the connection inside its request");
}

}  // namespace qq::downstream
