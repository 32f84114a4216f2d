#include "base/error.h"

#include <array>

namespace qq {
namespace {

constexpr std::array kKindNames = {std::string_view("invalid_request"),
                                   std::string_view("unauthorized"),
                                   std::string_view("forbidden"),
                                   std::string_view("not_found"),
                                   std::string_view("method_not_allowed"),
                                   std::string_view("payload_too_large"),
                                   std::string_view("request_timeout"),
                                   std::string_view("client_gone"),
                                   std::string_view("client_stalled"),
                                   std::string_view("dns_failed"),
                                   std::string_view("connect_failed"),
                                   std::string_view("connect_timeout"),
                                   std::string_view("tls_failed"),
                                   std::string_view("egress_denied"),
                                   std::string_view("early_close"),
                                   std::string_view("reset"),
                                   std::string_view("send_timeout"),
                                   std::string_view("first_byte_timeout"),
                                   std::string_view("first_content_timeout"),
                                   std::string_view("event_gap_timeout"),
                                   std::string_view("total_timeout"),
                                   std::string_view("rate_limited"),
                                   std::string_view("quota_exhausted"),
                                   std::string_view("credential_dead"),
                                   std::string_view("model_missing"),
                                   std::string_view("refused"),
                                   std::string_view("overloaded"),
                                   std::string_view("server_error"),
                                   std::string_view("bad_frame"),
                                   std::string_view("bad_content_type"),
                                   std::string_view("decode_failed"),
                                   std::string_view("body_cut"),
                                   std::string_view("stream_cut"),
                                   std::string_view("stream_error"),
                                   std::string_view("event_too_big"),
                                   std::string_view("empty_reply"),
                                   std::string_view("bad_json"),
                                   std::string_view("no_target"),
                                   std::string_view("saturated"),
                                   std::string_view("shutting_down"),
                                   std::string_view("cancelled"),
                                   std::string_view("config"),
                                   std::string_view("internal")};
static_assert(kKindNames.size() == static_cast<std::size_t>(ErrorKind::Internal) + 1);

}  // namespace

std::string_view to_string(ErrorKind kind) noexcept {
  return kKindNames[static_cast<std::size_t>(kind)];
}

std::string_view to_string(ErrorOrigin origin) noexcept {
  switch (origin) {
    case ErrorOrigin::Client: return "client";
    case ErrorOrigin::Upstream: return "upstream";
    case ErrorOrigin::Gateway: return "gateway";
  }
  return "gateway";
}

std::string_view to_string(AttemptPhase phase) noexcept {
  switch (phase) {
    case AttemptPhase::NotSent: return "not_sent";
    case AttemptPhase::SentNoReply: return "sent_no_reply";
    case AttemptPhase::ReplyBegun: return "reply_begun";
  }
  return "not_sent";
}

}  // namespace qq
