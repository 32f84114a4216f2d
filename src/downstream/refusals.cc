#include "downstream/refusals.h"

#include <fmt/format.h>

#include "base/time.h"

namespace qq::downstream {

Error too_large(std::size_t body_max) {
  return Error::client(
      ErrorKind::PayloadTooLarge,
      fmt::format("the request body is larger than this gateway takes ({} bytes); send less", body_max));
}

Error saturated(std::string text) {
  Error error = Error::gateway(ErrorKind::Saturated, std::move(text));
  error.retry_after = Milliseconds{1'000};
  return error;
}

Error too_slow() {
  return Error::client(ErrorKind::RequestTimeout,
                       "the request body came too slowly; send at least 1 KiB a second");
}

Error too_many_bodies() {
  return saturated("too many large requests are in flight; try again shortly");
}

Error malformed_body(const char* reason) {
  return Error::client(ErrorKind::InvalidRequest, fmt::format("malformed request body: {}", reason));
}

Error client_left_inside() {
  return Error::client(ErrorKind::ClientGone, "the client closed the connection inside its request");
}

}  // namespace qq::downstream
