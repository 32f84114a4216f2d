#include "relay/outgoing.h"

#include "relay/plain_translation.h"
#include "relay/realtime.h"
#include "relay/translation.h"

namespace qq::relay {
namespace {

// What the gateway keeps alone is kept by no provider, whichever way the request has taken to its dialect.
Result<> keep_nothing_there(const RequestState& state, const model::Attempt& attempt, Outgoing& outgoing,
                            UpstreamCall& call) {
  wire::JsonLimits limits;
  limits.nodes_max = state.snapshot.limits.json_nodes_max;
  limits.depth_max = state.snapshot.limits.json_depth_max;
  QQ_TRY(auto facts, dialects::openai::inspect_request(attempt.endpoint, outgoing.encoded_body, limits));
  facts.keeps_nothing = true;
  facts.asks_thoughts = state.facts.asks_thoughts;
  dialects::openai::encode_for_target(facts, outgoing.encoded_body, attempt.endpoint, *attempt.target,
                                      outgoing.passed);
  call.body_pieces = outgoing.passed.pieces;
  call.body_bytes = outgoing.passed.bytes;
  return {};
}

// Of what is no conversation.
[[gnu::noinline]] Result<> encode_plain(RequestState& state, const model::Attempt& attempt,
                                        Outgoing& outgoing, UpstreamCall& call) {
  QQ_TRY(PlainTranslation* const translation, plain_translation_of(state));
  QQ_TRY(outgoing.encoded, translation->encode_for(*attempt.target, attempt.endpoint));
  outgoing.encoded_body = outgoing.encoded.body;
  call.header_lines = outgoing.encoded.header_lines;
  call.body_pieces = {&outgoing.encoded_body, 1};
  call.body_bytes = outgoing.encoded_body.size();
  const Limits& limits = state.snapshot.limits;
  call.reply_max = std::max(limits.held_answer_max, limits.event_max);
  return {};
}

Result<> encode_translated(RequestState& state, const model::Attempt& attempt, Outgoing& outgoing,
                           UpstreamCall& call) {
  QQ_TRY(Translation* const translation, translation_of(state));
  QQ_TRY(outgoing.encoded, translation->encode_for(*attempt.target, attempt.endpoint));
  outgoing.encoded_body = outgoing.encoded.body;
  // Of the client's own dialect it may say what would have passed through; Anthropic's encoder does so
  // itself.
  const bool is_own = attempt.endpoint == state.incoming.endpoint;
  if (is_own && attempt.endpoint != model::Endpoint::Messages) {
    outgoing.encoded.header_lines += state.incoming.header_lines;
  }
  call.header_lines = outgoing.encoded.header_lines;
  call.body_pieces = {&outgoing.encoded_body, 1};
  call.body_bytes = outgoing.encoded_body.size();
  if (is_own && state.facts.keeps_nothing) QQ_CHECK(keep_nothing_there(state, attempt, outgoing, call));
  const Limits& limits = state.snapshot.limits;
  call.reply_max = std::max(limits.held_answer_max, limits.event_max);
  return {};
}

}  // namespace

Result<> encode_request(RequestState& state, const model::Attempt& attempt, Outgoing& outgoing,
                        UpstreamCall& call) {
  call.target = attempt.target;
  call.endpoint = attempt.endpoint;
  call.request_id = state.incoming.id.text();
  call.stream = state.facts.stream;
  if (state.incoming.realtime) {
    encode_opening(state, attempt, outgoing.path, outgoing.websocket_key, call);
    return {};
  }
  if (attempt.translated && is_plain(attempt.endpoint)) return encode_plain(state, attempt, outgoing, call);
  if (attempt.translated) return encode_translated(state, attempt, outgoing, call);
  const NativeHead* const native = state.incoming.native.get();
  if (native != nullptr && !native->form_type.empty()) {
    dialects::openai::encode_form_for_target(native->form, state.incoming.body, *attempt.target,
                                             outgoing.passed);
    call.content_type = native->form_type;
  } else {
    dialects::openai::encode_for_target(state.facts, state.incoming.body, attempt.endpoint, *attempt.target,
                                        outgoing.passed);
  }
  call.header_lines = state.incoming.header_lines;
  call.body_pieces = outgoing.passed.pieces;
  call.body_bytes = outgoing.passed.bytes;
  return {};
}

}  // namespace qq::relay
