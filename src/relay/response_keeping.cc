#include "relay/response_keeping.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "relay/response_store.h"
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

bool continues(const history::StateWanted& wanted) noexcept {
  return !wanted.previous_response_id.empty() || !wanted.conversation.empty();
}

Error not_kept_here(std::string_view what, std::string_view param) {
  Error error = Error::client(
      ErrorKind::NotFound,
      fmt::format("{} cannot be found: this gateway keeps no responses (storage.responses). Send the whole "
                  "conversation as 'input'",
                  what),
      std::string(param));
  error.type = "invalid_request_error";
  return error;
}

// What was said before, kept alive for its views.
struct Past {
  std::shared_ptr<const StoredResponse> kept;
  std::unique_ptr<const std::string> items;
  history::Exchange exchange;
};

Task<Result<Past>> find_past(RequestState& state, const history::StateWanted& wanted) {
  ResponseStore* const store = state.services.responses;
  Past past;
  if (!wanted.conversation.empty()) {
    if (store == nullptr) co_return fail(not_kept_here("the conversation", "conversation"));
    Result<ItemPage> page =
        co_await store->list_items(store_call(state, state.scope()), wanted.conversation, ItemQuery{});
    if (!page) {
      page.error().param = "conversation";
      co_return fail(std::move(page).error());
    }
    past.items = std::make_unique<const std::string>(joined(page->items));
    past.exchange.input = *past.items;
    co_return past;
  }
  if (wanted.previous_response_id.empty()) co_return past;
  if (store == nullptr) co_return fail(not_kept_here("the previous response", "previous_response_id"));
  Result<std::shared_ptr<const StoredResponse>> kept =
      co_await store->get(store_call(state, state.scope()), wanted.previous_response_id);
  if (!kept) {
    if (kept.error().kind == ErrorKind::NotFound) {
      kept.error().param = "previous_response_id";
      kept.error().code = "previous_response_not_found";
    }
    co_return fail(std::move(kept).error());
  }
  past.kept = *std::move(kept);
  auto exchange = history::exchange_of(past.kept->input, past.kept->response);
  if (!exchange) co_return fail(std::move(exchange).error());
  past.exchange = *exchange;
  co_return past;
}

// Whether a request with so much put into it may be held: like a body of that size that a client sends.
Result<> make_room(RequestState& state, std::size_t more) {
  const std::size_t whole = state.incoming.body.size() + more;
  const std::size_t most = state.snapshot.limits.body_max;
  if (whole > most) {
    return fail(
        Error::client(ErrorKind::PayloadTooLarge,
                      fmt::format("the request and what it goes on with have {} bytes; this gateway takes {} "
                                  "(limits.body_max)",
                                  whole, most)));
  }
  const bool short_of_memory =
      state.services.process.memory_step.load(std::memory_order_relaxed) >= 1 && whole > kLargeBody;
  // Both are there while one is made of the other.
  if (short_of_memory || !state.incoming.budget.grow_to(state.services, state.incoming.body.size() + whole)) {
    Error error =
        Error::gateway(ErrorKind::Saturated, "no room for what the request goes on with; try again shortly");
    error.retry_after = std::chrono::seconds(1);
    return fail(std::move(error));
  }
  return {};
}

std::size_t size_of(const history::FoundItems& found) noexcept {
  std::size_t bytes = 0;
  for (const auto& [id, item] : found) bytes += item.size();
  return bytes;
}

// Of the items that the input names, those in answers that the owner has.
Task<Result<history::FoundItems>> find_named(RequestState& state, std::vector<history::NamedItem> names,
                                             std::size_t past_bytes) {
  history::FoundItems found;
  ResponseStore* const store = state.services.responses;
  for (const history::NamedItem& name : names) {
    if (found.contains(name.id)) continue;
    if (store == nullptr) {
      if (!name.must_be_found) continue;
      co_return fail(not_kept_here("an item that 'input' refers to", "input"));
    }
    Result<std::shared_ptr<const StoredResponse>> kept =
        co_await store->get_with_item(store_call(state, state.scope()), name.id);
    if (!kept) {
      // What is in the past needs not be found, and what is nowhere is told by the input's place.
      if (kept.error().kind == ErrorKind::NotFound) continue;
      // A thought that cannot be looked up is one that is lost.
      if (!name.must_be_found && !state.client.gone().cancelled()) continue;
      co_return fail(std::move(kept).error());
    }
    history::find_items((*kept)->response, names, found);
    QQ_CO_CHECK(make_room(state, past_bytes + size_of(found)));
  }
  co_return found;
}

// The request as it is sent from now on.
Result<> replace_body(RequestState& state, std::string body) {
  wire::JsonLimits limits;
  limits.nodes_max = state.snapshot.limits.json_nodes_max;
  limits.depth_max = state.snapshot.limits.json_depth_max;
  state.incoming.body = std::move(body);
  state.incoming.budget.grow_to(state.services, state.incoming.body.size());
  QQ_TRY(state.facts,
         dialects::openai::inspect_request(state.incoming.endpoint, state.incoming.body, limits));
  return {};
}

Task<Result<>> put_in(RequestState& state, const history::StateWanted& wanted,
                      std::vector<history::NamedItem> names, std::size_t& past_items) {
  Result<Past> past = co_await find_past(state, wanted);
  if (!past) co_return fail(std::move(past).error());
  const std::size_t past_bytes = past->exchange.input.size() + past->exchange.output.size();
  QQ_CO_CHECK(make_room(state, past_bytes));
  const bool needs_some = std::ranges::any_of(names, &history::NamedItem::must_be_found);
  Result<history::FoundItems> found = co_await find_named(state, std::move(names), past_bytes);
  if (!found) co_return fail(std::move(found).error());
  if (!continues(wanted) && found->empty() && !needs_some) {
    state.incoming.budget.grow_to(state.services, state.incoming.body.size());
    co_return Result<>();
  }
  Result<history::Whole> whole =
      history::with_history(state.facts.document, state.facts.state.input, past->exchange, *found);
  if (!whole) co_return fail(std::move(whole).error());
  past_items = whole->past_items;
  co_return replace_body(state, std::move(whole->body));
}

bool is_last(std::string_view type) noexcept {
  return type == "response.completed" || type == "response.incomplete";
}

// The next event with a response object in it, in whole events; `type` says which.
struct ResponseEvent {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string_view data;
  std::string_view type;
  wire::JsonValue response;
};

class ResponseEvents {
 public:
  ResponseEvents(const RequestState& state, std::string_view events)
      : decoder_(state.snapshot.limits.event_max), events_(events) {}
  std::optional<ResponseEvent> next() {
    while (decoder_.next(events_, consumed_, event_)) {
      const std::size_t from = std::exchange(begin_, event_.end);
      if (!event_.has_data || event_.data.find("response.") == std::string_view::npos) continue;
      if (wire::check_json(event_.data, {.check_utf8 = false})) continue;
      const wire::JsonValue document(event_.data);
      if (!document.is_object()) continue;
      const auto type = document.member("type");
      const auto object = document.member("response");
      if (!type || !object || !object->is_object()) continue;
      return ResponseEvent{from, event_.end, event_.data, type->raw_string(), *object};
    }
    return std::nullopt;
  }

 private:
  wire::SseDecoder decoder_;
  wire::SseEvent event_;
  std::string_view events_;
  std::size_t consumed_ = 0;
  std::size_t begin_ = 0;
};

void append_event(std::string& out, const ResponseEvent& event, std::string response) {
  wire::JsonPatch patch(event.data);
  patch.replace(event.response, std::move(response));
  std::string data = patch.apply();
  std::ranges::replace(data, '\n', ' ');  // between values: the data of several lines becomes one
  out.append("event: ").append(event.type).append("\ndata: ").append(data).append("\n\n");
}

}  // namespace

bool may_be_stateful(const RequestState& state) noexcept {
  return state.incoming.endpoint == model::Endpoint::Responses ||
         state.incoming.endpoint == model::Endpoint::CountInputTokens ||
         state.incoming.endpoint == model::Endpoint::CompactResponse;
}

Task<Result<>> resume(RequestState& state) {
  Result<history::StateWanted> wanted = history::state_wanted(state.facts.state);
  if (!wanted) co_return fail(std::move(wanted).error());
  Result<std::vector<history::NamedItem>> names = history::named_items(state.facts.state.input);
  if (!names) co_return fail(std::move(names).error());
  const bool names_earlier = continues(*wanted) || !names->empty();
  std::size_t past_items = 0;
  if (names_earlier) {
    Result<> put = co_await put_in(state, *wanted, *std::move(names), past_items);
    if (!put) co_return put;
  }
  const bool is_answered = state.incoming.endpoint == model::Endpoint::Responses;
  // What a client keeps by itself passes as it is.
  state.facts.keeps_nothing = wanted->store || names_earlier;
  state.facts.asks_thoughts = is_answered && wanted->store;
  if (is_answered && wanted->store && state.services.responses != nullptr) {
    state.keeping = std::make_unique<ResponseKeeping>();
    state.keeping->wanted = *std::move(wanted);
    state.keeping->past_items = past_items;
  }
  co_return Result<>();
}

std::string told_response(const RequestState& state, std::string_view response) {
  if (auto told = history::as_kept(response, state.keeping->wanted)) return *std::move(told);
  return std::string(response);
}

std::string told_events(const RequestState& state, std::string_view events) {
  std::string out;
  std::size_t written = 0;
  ResponseEvents responses(state, events);
  while (const auto event = responses.next()) {
    out.append(events.substr(written, event->begin - written));
    append_event(out, *event, told_response(state, event->response.text()));
    written = event->end;
  }
  out.append(events.substr(written));
  return out;
}

std::optional<std::string> told_last_event(const RequestState& state, std::string_view events,
                                           std::string& response) {
  ResponseEvents responses(state, events);
  while (const auto event = responses.next()) {
    if (!is_last(event->type)) continue;
    response = told_response(state, event->response.text());
    std::string out(events.substr(0, event->begin));
    append_event(out, *event, response);
    out.append(events.substr(event->end));
    return out;
  }
  return std::nullopt;
}

namespace {

// An entry and, of a conversation, its turn.
struct Kept {
  StoredResponse entry;
  std::vector<ConversationItem> turn;
};

Result<Kept> to_be_kept(RequestState& state, std::string response) {
  const ResponseKeeping& keeping = *state.keeping;
  QQ_ASSERT(!state.incoming.body.empty());  // it is freed here, or when nothing is to be kept any more
  const wire::JsonValue input = state.facts.state.input;
  const std::size_t most = state.services.responses->entry_bytes_max();
  if (const std::size_t bytes = response.size() + input.text().size(); bytes > most) {
    return fail(entry_too_large(bytes, most));
  }
  QQ_TRY(const auto answer, history::kept_answer(response));
  Kept kept;
  StoredResponse& entry = kept.entry;
  entry.id = answer.id;
  entry.model = answer.model;
  entry.created = WallTime(std::chrono::seconds(answer.created_unix));
  entry.previous_id = keeping.wanted.previous_response_id;
  entry.conversation_id = keeping.wanted.conversation;
  entry.item_ids = history::output_ids(response);
  if (!keeping.wanted.conversation.empty()) {
    QQ_TRY(const std::string own, history::input_items(input, keeping.past_items));
    QQ_TRY(auto items, history::turn_items(own, response, state.incoming.id.text()));
    for (history::TurnItem& item : items) kept.turn.push_back({std::move(item.id), std::move(item.json)});
  }
  QQ_TRY(entry.input, history::input_items(input));
  entry.response = std::move(response);
  return kept;
}

}  // namespace

Task<bool> keep_response(RequestState& state, std::string response) {
  Result<Kept> kept = to_be_kept(state, std::move(response));
  state.incoming.free_body();
  if (!kept) {
    state.services.counters.responses_not_kept.add();
    state.keeping->wanted.store = false;
    co_return false;
  }
  const net::Scope scope{state.services.loop.now() + kKeepWait, nullptr};
  ResponseStore& store = *state.services.responses;
  Result<> stored;
  if (kept->turn.empty()) {
    stored = co_await store.put(store_call(state, scope), std::move(kept->entry));
  } else {
    stored = co_await store.put_turn(store_call(state, scope), std::move(kept->entry), std::move(kept->turn));
  }
  if (stored) co_return true;
  state.services.counters.responses_not_kept.add();
  state.keeping->wanted.store = false;
  co_return false;
}

void give_up_keeping(RequestState& state) {
  if (!state.keeping) return;
  state.keeping.reset();
  state.services.counters.responses_not_kept.add();
}

}  // namespace qq::relay
