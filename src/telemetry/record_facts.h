// What logs and metrics both derive from a request's record, so that they never disagree.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string_view>

#include "relay/request_record.h"

namespace qq::telemetry {

// How a request ended for its client. Whose fault a failure is follows the error's origin.
enum class RequestOutcome : std::uint8_t {
  Ok,
  ClientError,    // refused because of what the client sent
  UpstreamError,  // no provider gave an answer
  GatewayError,   // a limit or a fault of ours
  ClientGone,     // hung up or stopped reading
  Interrupted,    // the answer began and ended with an error event
};
inline constexpr std::size_t kRequestOutcomeCount = 6;

constexpr std::string_view to_string(RequestOutcome outcome) noexcept {
  switch (outcome) {
    case RequestOutcome::Ok: return "ok";
    case RequestOutcome::ClientError: return "client_error";
    case RequestOutcome::UpstreamError: return "upstream_error";
    case RequestOutcome::GatewayError: return "gateway_error";
    case RequestOutcome::ClientGone: return "client_gone";
    case RequestOutcome::Interrupted: return "interrupted";
  }
  return "gateway_error";
}

inline RequestOutcome outcome_of(const relay::RequestRecord& record) noexcept {
  if (record.error &&
      (record.error->kind == ErrorKind::ClientGone || record.error->kind == ErrorKind::ClientStalled)) {
    return RequestOutcome::ClientGone;
  }
  if (record.interrupted) return RequestOutcome::Interrupted;
  if (!record.error) return record.status >= 400 ? RequestOutcome::ClientError : RequestOutcome::Ok;
  // A provider's 4xx is handed to the client as its own doing.
  if (record.error->kind == ErrorKind::Refused) return RequestOutcome::ClientError;
  switch (record.error->origin) {
    case ErrorOrigin::Client: return RequestOutcome::ClientError;
    case ErrorOrigin::Upstream: return RequestOutcome::UpstreamError;
    case ErrorOrigin::Gateway: return RequestOutcome::GatewayError;
  }
  return RequestOutcome::GatewayError;
}

// Duration minus the time in which only a provider or the client could have made progress.
inline std::chrono::nanoseconds overhead_of(const relay::RequestRecord& record) noexcept {
  const std::chrono::nanoseconds duration = record.ended - record.started;
  return std::max(std::chrono::nanoseconds(0), duration - record.upstream_wait - record.client_wait);
}

// Whose answer the client read, or the last that was tried; nothing if none was.
inline const model::Attempt* answering_attempt(const relay::RequestRecord& record) noexcept {
  for (auto attempt = record.attempts.rbegin(); attempt != record.attempts.rend(); ++attempt) {
    if (attempt->delivered || attempt->outcome == model::Outcome::Success) return &*attempt;
  }
  return record.attempts.empty() ? nullptr : &record.attempts.back();
}
inline const model::Target* answering_target(const relay::RequestRecord& record) noexcept {
  const model::Attempt* const attempt = answering_attempt(record);
  return attempt == nullptr ? nullptr : attempt->target;
}

}  // namespace qq::telemetry
