#include "relay/response_keeping.h"

#include "relay/response_store.h"
#include "relay/translation.h"
#include "wire/json_patch.h"
#include "wire/sse.h"

namespace qq::relay {
namespace {

namespace history = dialects::openai_responses;

// An answer that is paid for is kept though its client has left, for as long as this.
constexpr Milliseconds kKeepWait{5'000};

StoreCall store_call(const RequestState& state, net::Scope scope) {
  return {state.services.loop, state.incoming.key->owner, state.services.loop.wall_now(), scope};
}

std::string joined(const std::vector<ConversationItem>& items) {
  std::string out = "[";
  for (const ConversationItem& item : items) {
    if (out.size() > 1) out.push_back(',');
    out.append(item.json);
  }
  out.push_back(']');
  return out;
}

bool passes_through(const RequestState& state) {
  return !state.plan.targets.empty() && state.plan.targets.front()->offers(model::Endpoint::Responses);
}

Task<Result<history::Exchange>> find_past(RequestState& state, const history::StateWanted& wanted) {
  ResponseStore& store = *state.services.responses;
  if (!wanted.conversation.empty()) {
    Result<ItemPage> page =
        co_await store.list_items(store_call(state, state.scope()), wanted.conversation, ItemQuery{});
    if (!page) co_return fail(std::move(page).error());
    co_return history::Exchange{joined(page->items), "[]"};
  }
  Result<std::shared_ptr<const StoredResponse>> kept =
      co_await store.get(store_call(state, state.scope()), wanted.previous_response_id);
  if (!kept) co_return fail(std::move(kept).error());
  co_return history::exchange_of((*kept)->input, (*kept)->response);
}

// The request as it is sent from now on.
Result<> replace_body(RequestState& state, std::string body) {
  wire::JsonLimits limits;
  limits.nodes_max = state.snapshot.limits.json_nodes_max;
  limits.depth_max = state.snapshot.limits.json_depth_max;
  state.incoming.body = std::move(body);
  QQ_TRY(state.facts,
         dialects::openai::inspect_request(state.incoming.endpoint, state.incoming.body, limits));
  return {};
}

Result<> note_input(RequestState& state, const history::StateWanted& wanted) {
  if (!wanted.store && wanted.conversation.empty()) return {};
  auto keeping = std::make_unique<ResponseKeeping>();
  keeping->wanted = wanted;
  QQ_TRY(keeping->whole_input, history::input_items(state.incoming.body));
  if (!wanted.conversation.empty()) keeping->turn_input = keeping->whole_input;
  state.keeping = std::move(keeping);
  return {};
}

bool is_last(std::string_view type) noexcept {
  return type == "response.completed" || type == "response.incomplete";
}

// What passes through untouched says of the store what is true.
bool is_ours(const RequestState& state) noexcept {
  return state.keeping->resumed || state.attempts.back().translated;
}

}  // namespace

bool may_be_stateful(const RequestState& state) noexcept {
  return state.incoming.endpoint == model::Endpoint::Responses && state.services.responses != nullptr;
}

Task<Result<>> resume(RequestState& state) {
  Result<history::StateWanted> wanted = history::state_wanted(state.incoming.body);
  if (!wanted) co_return fail(std::move(wanted).error());
  const bool continues = !wanted->previous_response_id.empty() || !wanted->conversation.empty();
  if (!continues) co_return note_input(state, *wanted);
  Result<history::Exchange> past = co_await find_past(state, *wanted);
  if (!past) {
    const bool may_be_elsewhere = past.error().kind == ErrorKind::NotFound && passes_through(state);
    if (may_be_elsewhere) co_return Result<>();
    co_return fail(std::move(past).error());
  }
  Result<> noted = note_input(state, *wanted);
  if (!noted) co_return noted;
  Result<std::string> whole = history::with_history(state.incoming.body, *past);
  if (!whole) co_return fail(std::move(whole).error());
  if (state.keeping) {
    Result<model::Json> input = history::input_items(*whole);
    if (!input) co_return fail(std::move(input).error());
    state.keeping->whole_input = *std::move(input);
    state.keeping->resumed = true;
  }
  co_return replace_body(state, *std::move(whole));
}

std::string told_response(const RequestState& state, std::string_view response) {
  if (is_ours(state)) {
    if (auto told = history::as_kept(response, state.keeping->wanted)) return *std::move(told);
  }
  return std::string(response);
}

std::optional<std::string> told_last_event(const RequestState& state, std::string_view events,
                                           std::string& response) {
  wire::SseDecoder decoder(state.snapshot.limits.event_max);
  wire::SseEvent event;
  std::size_t consumed = 0;
  std::size_t begin = 0;
  while (decoder.next(events, consumed, event)) {
    const std::size_t from = std::exchange(begin, event.end);
    if (!event.has_data || event.data.find("response.") == std::string_view::npos) continue;
    if (wire::check_json(event.data, {.check_utf8 = false})) continue;
    const wire::JsonValue document(event.data);
    if (!document.is_object()) continue;
    const auto type = document.member("type");
    const auto object = document.member("response");
    if (!type || !object || !object->is_object() || !is_last(type->raw_string())) continue;
    response = told_response(state, object->text());
    if (!is_ours(state)) return std::string(events);
    wire::JsonPatch patch(event.data);
    patch.replace(*object, response);
    std::string out(events.substr(0, from));
    out.append("event: ").append(type->raw_string()).append("\ndata: ").append(patch.apply()).append("\n\n");
    out.append(events.substr(event.end));
    return out;
  }
  return std::nullopt;
}

Task<void> keep_response(RequestState& state, std::string response) {
  const ResponseKeeping& keeping = *state.keeping;
  const auto kept = history::kept_answer(response);
  const net::Scope scope{state.services.loop.now() + kKeepWait, nullptr};
  Result<> stored;
  if (!kept) {
    stored = fail(kept.error());
  } else {
    StoredResponse entry;
    entry.id = kept->id;
    entry.model = kept->model;
    entry.created = WallTime(std::chrono::seconds(kept->created_unix));
    entry.input = keeping.whole_input;
    entry.previous_id = keeping.wanted.previous_response_id;
    entry.conversation_id = keeping.wanted.conversation;
    std::vector<ConversationItem> turn;
    if (!keeping.wanted.conversation.empty()) {
      auto items = history::turn_items(keeping.turn_input, response, state.incoming.id.text());
      if (items) {
        for (history::TurnItem& item : *items) turn.push_back({std::move(item.id), std::move(item.json)});
      }
    }
    entry.response = std::move(response);
    ResponseStore& store = *state.services.responses;
    if (turn.empty()) {
      stored = co_await store.put(store_call(state, scope), std::move(entry));
    } else {
      stored = co_await store.put_turn(store_call(state, scope), std::move(entry), std::move(turn));
    }
  }
  if (!stored) state.services.counters.responses_not_kept.add();
}

}  // namespace qq::relay
