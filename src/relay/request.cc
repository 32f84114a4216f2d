#include "relay/request.h"

#include <fmt/format.h>

#include "base/assert.h"
#include "base/utf8_cut.h"
#include "relay/attempts.h"
#include "relay/client_words.h"
#include "relay/counting.h"
#include "relay/held/file_references.h"
#include "relay/held/held_call.h"
#include "relay/plain_translation.h"
#include "relay/reply_head.h"
#include "relay/response_keeping.h"
#include "relay/settle.h"
#include "relay/socket_port.h"
#include "relay/stored_objects.h"
#include "relay/translation.h"

namespace qq::relay {
namespace {

// Of what a caller sent, in the words of an error.
constexpr std::size_t kShownMax = 200;

// OpenAI's own default where `model` may be left out.
constexpr std::string_view kDefaultModerationModel = "omni-moderation-latest";

// A step that may refuse the request: what it says is left for whoever tells it.
bool passed(RequestState& state, Result<> step) {
  if (step) return true;
  state.error = std::move(step).error();
  return false;
}

// What the first target needs of a request that is to be translated is looked at before anybody is asked.
Result<> decode_if_needed(RequestState& state) {
  if (state.incoming.realtime) return {};
  const model::Target& first = *state.plan.targets.front();
  const auto asked_there = first.endpoint_for(state.incoming.endpoint);
  if (!is_translated(state, first, *asked_there)) return {};
  if (is_plain(*asked_there)) {
    QQ_CHECK(plain_translation_of(state));
  } else {
    QQ_CHECK(translation_of(state));
  }
  return {};
}

// What other providers left in a conversation is sealed for this gateway, and a compaction would seal it
// again where nobody here finds it.
Result<> check_compaction(const RequestState& state) {
  if (state.incoming.endpoint != model::Endpoint::CompactResponse || !state.facts.holds_carried) return {};
  return fail(Error::client(ErrorKind::InvalidRequest,
                            "'input' holds what models of several providers thought, which none of them can "
                            "compact: leave items of type reasoning out",
                            "input"));
}

// Of a form or of JSON, what must be known.
Result<> inspect(RequestState& state) {
  const model::Endpoint endpoint = state.incoming.endpoint;
  if (state.incoming.realtime) {
    state.facts.model = state.incoming.realtime->model;
    return {};
  }
  NativeHead* const native = state.incoming.native.get();
  if (native != nullptr && !native->form_type.empty()) {
    QQ_TRY(auto request, dialects::openai::inspect_form(endpoint, native->form_type, state.incoming.body));
    state.facts = std::move(request.facts);
    native->form = request.form;
    return {};
  }
  wire::JsonLimits limits;
  limits.nodes_max = state.snapshot.limits.json_nodes_max;
  limits.depth_max = state.snapshot.limits.json_depth_max;
  QQ_TRY(state.facts, dialects::openai::inspect_request(endpoint, state.incoming.body, limits));
  return {};
}

// Of a plan without targets, or of what others left in the conversation, nobody counts the tokens, but
// somebody answers: a count is estimated. Errors: there is nobody.
Result<> plan_an_estimate(RequestState& state, const routing::Route& route, std::string_view asked) {
  const model::Endpoint endpoint = state.incoming.endpoint;
  if ((state.plan.targets.empty() || state.facts.holds_carried) && counted_at(endpoint)) {
    state.plan = routing::make_plan(route, *counted_at(endpoint), state.services.random);
    state.estimates = !state.plan.targets.empty();
    if (state.estimates) return {};
  }
  if (!state.plan.targets.empty()) return {};
  return fail(Error::client(ErrorKind::InvalidRequest,
                            fmt::format("The model `{}` is not available at this endpoint ({})",
                                        cut_utf8(asked, kShownMax), model::to_string(endpoint)),
                            "model"));
}

// What does it ask, which route, which plan?
Result<> prepare(RequestState& state) {
  const Snapshot& snapshot = state.snapshot;
  const model::Endpoint endpoint = state.incoming.endpoint;
  QQ_CHECK(inspect(state));
  QQ_CHECK(check_compaction(state));
  if (model::dialect_of(endpoint) == model::Dialect::Gemini) {
    state.facts.model = state.incoming.native->path_model;
    state.facts.stream = state.incoming.native->path_stream;
  }

  const bool model_absent = state.facts.model.empty() && endpoint == model::Endpoint::Moderations;
  const std::string_view asked = model_absent ? kDefaultModerationModel : std::string_view(state.facts.model);
  const routing::Route* route = snapshot.find_route(asked);
  // A route that exists but is not for this key answers like one that does not exist: names are not to be
  // probed.
  QQ_ASSERT(state.incoming.key != nullptr);
  if (route == nullptr || !admission::may_use(*state.incoming.key, asked)) {
    return fail(Error::client(
        ErrorKind::NotFound,
        fmt::format(
            "The model `{}` does not exist or this key may not use it; GET /v1/models lists what it may use",
            cut_utf8(asked, kShownMax)),
        "model"));
  }
  state.plan = routing::make_plan(*route, endpoint, state.services.random);
  return plan_an_estimate(state, *route, asked);
}

// What was said before may be what no provider takes, as what the client says itself may.
Result<> look_at_the_past(RequestState& state) {
  QQ_CHECK(check_compaction(state));
  if (state.estimates || !state.facts.holds_carried) return {};
  const routing::Route* const route = state.snapshot.find_route(state.facts.model);
  QQ_ASSERT(route != nullptr);  // the snapshot is the one that the plan is of
  return plan_an_estimate(state, *route, state.facts.model);
}

// Out of line: what it needs while it works is no part of a waiting request's frame.
[[gnu::noinline]] bool may_run(RequestState& state) {
  return passed(state, prepare(state));
}
[[gnu::noinline]] bool may_be_asked(RequestState& state) {
  return state.estimates || passed(state, decode_if_needed(state));
}

// Of a conversation that the gateway keeps, what came before.
[[gnu::noinline]] Task<bool> resumed(RequestState& state) {
  Result<> step = co_await resume(state);
  if (step) step = look_at_the_past(state);
  co_return passed(state, std::move(step));
}

// Of one that names files which an account holds, where they can be read.
[[gnu::noinline]] Task<bool> pinned(RequestState& state) {
  Result<> step = co_await pin_to_files(state);
  co_return passed(state, std::move(step));
}

Task<void> refuse(RequestState& state) {
  const model::Dialect dialect = model::dialect_of(state.incoming.endpoint);
  const auto encoded = encode_error(dialect, *state.error, state.incoming.id.text());
  const std::string_view body = encoded.body;
  const std::string lines = error_header_lines(dialect, state.incoming.id.text(), {}, {}, *state.error);
  if (state.client.reply(encoded.status, lines, {&body, 1}) == ClientPort::Taken::Pending) {
    Result<> flushed = co_await state.client.flush(state.scope());
    if (!flushed) state.error = std::move(flushed).error();
  }
}

// A count that the gateway makes itself.
Task<void> answer_estimate(RequestState& state) {
  auto counted = estimated_count(state);
  if (!counted) {
    state.error = std::move(counted).error();
    co_await refuse(state);
    co_return;
  }
  const std::string lines = estimate_header_lines(state);
  const std::string_view body = *counted;
  if (state.client.reply(200, lines, {&body, 1}) == ClientPort::Taken::Pending) {
    Result<> flushed = co_await state.client.flush(state.scope());
    if (!flushed) state.error = std::move(flushed).error();
  }
}

}  // namespace

IncomingRequest::IncomingRequest() = default;
IncomingRequest::IncomingRequest(IncomingRequest&&) noexcept = default;
IncomingRequest::~IncomingRequest() = default;

RequestState::RequestState(LoopServices& services_, ClientPort& client_, IncomingRequest& incoming_)
    : services(services_), client(client_), incoming(incoming_), snapshot(*incoming_.snapshot) {}
RequestState::~RequestState() = default;

Task<void> relay_request(LoopServices& services, IncomingRequest incoming, ClientPort& client) {
  services.counters.requests_in_flight.add(1);
  RequestState state(services, client, incoming);
  state.deadline = incoming.started + state.snapshot.timers.total;
  incoming.body_bytes = incoming.body.size();
  bool good = may_run(state);
  if (good && may_be_stateful(state)) good = co_await resumed(state);
  if (good && may_refer_to_files(state)) good = co_await pinned(state);
  good = good && may_be_asked(state);
  if (!good) {
    co_await refuse(state);
  } else {
    if (!state.estimates) co_await run_attempts(state);
    if (state.estimates) co_await answer_estimate(state);
  }
  incoming.free_body();
  settle(state);
  services.counters.requests_in_flight.add(-1);
}

}  // namespace qq::relay
