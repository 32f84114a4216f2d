// What a failure says about a target:
//
//   what happened                                       breaker   cool-down
//   timeouts, DNS, connect, TLS, reset, early close     failure   -
//   5xx but 529                                         failure   overloaded: Retry-After, if given
//   529, "overloaded" without a 5xx status              none      Retry-After, else back-off
//   429                                                 none      Retry-After, else back-off
//   dead credential, exhausted quota                    none      five minutes
//   broken or empty 200, cut body or stream, error      failure   -
//     object in a 200, bad encoding
//   empty 200 that may have been asked for              none      -
//   404 model or path, 403 about what was asked or      none      -
//     with a web page, other 4xx
//   the request's own deadline, the client's doing      none      -
//   our own limits and refusals                         none      -
//
// 529 is a throttle: the provider is full, not broken. So is "overloaded" as some providers say it, with a
// 429 or as an error object in a 200. Our refusals must never count: a breaker fed by its own "no target"
// would keep itself open.
#include "resilience/evidence.h"

#include <algorithm>

#include "resilience/backoff.h"

namespace qq::resilience {
namespace {

constexpr std::uint16_t kOverloadedStatus = 529;  // Anthropic's "overloaded"

// The part of the answer that needs no back-off; `known` is false where a throttle names no time.
struct Asked {
  bool known = true;
  std::optional<Milliseconds> period;
};
Asked asked_period(const Error& error) noexcept {
  switch (error.kind) {
    case ErrorKind::CredentialDead:
    case ErrorKind::QuotaExhausted: return {.period = kDeadAccount};
    case ErrorKind::RateLimited:
    case ErrorKind::Overloaded: break;
    default: return {};
  }
  if (error.retry_after) return {.period = bounded_retry_after(error)};
  return {.known = !is_throttle(error), .period = std::nullopt};
}

}  // namespace

bool is_throttle(const Error& error) noexcept {
  if (error.kind == ErrorKind::RateLimited) return true;
  const int status = error.upstream_status;
  const bool broken = status >= 500 && status <= 599 && status != kOverloadedStatus;
  return error.kind == ErrorKind::Overloaded && !broken;
}

Evidence evidence_of(const Error& error, AskedFor empty) noexcept {
  if (error.origin == ErrorOrigin::Client) return Evidence::None;
  switch (error.kind) {
    case ErrorKind::DnsFailed:
    case ErrorKind::ConnectFailed:
    case ErrorKind::ConnectTimeout:
    case ErrorKind::TlsFailed:
    case ErrorKind::EarlyClose:
    case ErrorKind::Reset:
    case ErrorKind::SendTimeout:
    case ErrorKind::FirstByteTimeout:
    case ErrorKind::FirstContentTimeout:
    case ErrorKind::EventGapTimeout:
    case ErrorKind::ServerError:
    case ErrorKind::BadFrame:
    case ErrorKind::DecodeFailed:
    case ErrorKind::BodyCut:
    case ErrorKind::StreamCut:
    case ErrorKind::StreamError:
    case ErrorKind::BadJson: return Evidence::Failure;
    case ErrorKind::EmptyReply: return empty == AskedFor::Perhaps ? Evidence::None : Evidence::Failure;
    case ErrorKind::Overloaded: return is_throttle(error) ? Evidence::None : Evidence::Failure;
    // What a caller can provoke: a firewall's page by its words, "no such path" by its choice of endpoint.
    case ErrorKind::BadContentType:
      return error.upstream_status == 403 || error.upstream_status == 404 ? Evidence::None
                                                                          : Evidence::Failure;
    case ErrorKind::InvalidRequest:
    case ErrorKind::Unauthorized:
    case ErrorKind::Forbidden:
    case ErrorKind::NotFound:
    case ErrorKind::MethodNotAllowed:
    case ErrorKind::PayloadTooLarge:
    case ErrorKind::RequestTimeout:
    case ErrorKind::ClientGone:
    case ErrorKind::ClientStalled:
    case ErrorKind::EgressDenied:
    case ErrorKind::TotalTimeout:
    case ErrorKind::RateLimited:
    case ErrorKind::QuotaExhausted:
    case ErrorKind::CredentialDead:
    case ErrorKind::ModelMissing:
    case ErrorKind::Refused:
    case ErrorKind::EventTooBig:
    case ErrorKind::NoTarget:
    case ErrorKind::Saturated:
    case ErrorKind::ShuttingDown:
    case ErrorKind::Cancelled:
    case ErrorKind::Config:
    case ErrorKind::Internal: return Evidence::None;
  }
  return Evidence::None;
}

std::optional<Milliseconds> bounded_retry_after(const Error& error) noexcept {
  if (!error.retry_after) return std::nullopt;
  const Milliseconds max = error.kind == ErrorKind::RateLimited || error.kind == ErrorKind::QuotaExhausted
                               ? kCoolDownMax
                               : kOverloadMax;
  return std::clamp(*error.retry_after, Milliseconds{0}, max);
}

std::optional<Milliseconds> cool_down_of(const Error& error) noexcept {
  const Asked asked = asked_period(error);
  return asked.known ? asked.period : kThrottleBackoffBase;
}

std::optional<Milliseconds> cool_down_of(const Error& error, int throttles_before, Random& random) noexcept {
  const Asked asked = asked_period(error);
  if (asked.known) return asked.period;
  return full_jitter(kThrottleBackoffBase, kThrottleBackoffMax, throttles_before, random);
}

}  // namespace qq::resilience
