#include "relay/stored_objects.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "dialects/openai_responses/conversation.h"
#include "dialects/openai_responses/history.h"
#include "relay/client_words.h"
#include "relay/path_form.h"
#include "relay/reply_head.h"
#include "relay/response_store.h"
#include "relay/settle.h"
#include "wire/json_writer.h"

namespace qq::relay {
namespace {

namespace history = dialects::openai_responses;
using StoredVerb = StoredCall::Verb;

constexpr std::size_t kLimitMax = 100;
// For the store. The client has the request's own time to take what it is told.
constexpr Milliseconds kStoreWait{5'000};

struct Form {
  std::string_view method;
  std::string_view path;  // {} stands for one segment
  StoredVerb verb;
};
constexpr std::array kForms = {
    Form{"GET", "/v1/responses/{}", StoredVerb::GetResponse},
    Form{"DELETE", "/v1/responses/{}", StoredVerb::DeleteResponse},
    Form{"GET", "/v1/responses/{}/input_items", StoredVerb::ListInput},
    Form{"POST", "/v1/responses/{}/cancel", StoredVerb::CancelResponse},
    Form{"POST", "/v1/conversations", StoredVerb::CreateConversation},
    Form{"GET", "/v1/conversations/{}", StoredVerb::GetConversation},
    Form{"POST", "/v1/conversations/{}", StoredVerb::UpdateConversation},
    Form{"DELETE", "/v1/conversations/{}", StoredVerb::DeleteConversation},
    Form{"GET", "/v1/conversations/{}/items", StoredVerb::ListItems},
    Form{"POST", "/v1/conversations/{}/items", StoredVerb::AddItems},
    Form{"GET", "/v1/conversations/{}/items/{}", StoredVerb::GetItem},
    Form{"DELETE", "/v1/conversations/{}/items/{}", StoredVerb::DeleteItem},
};

// "input_tokens" is an endpoint of its own.
bool is_other_endpoint(std::string_view path) noexcept {
  return path == "/v1/responses/input_tokens" || path == "/v1/responses/compact";
}

Error bad_query(std::string_view name, std::string_view why) {
  Error error =
      Error::client(ErrorKind::InvalidRequest, std::string(name) + " " + std::string(why), std::string(name));
  error.type = "invalid_request_error";
  return error;
}

Result<> read_query(std::string_view query, StoredCall& call) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const std::string_view name = pair.substr(0, equals);
    const std::string_view value = pair.substr(std::min(equals + 1, pair.size()));
    if (name == "limit") {
      const auto [end, failed] = std::from_chars(value.data(), value.data() + value.size(), call.limit);
      const bool whole = failed == std::errc{} && end == value.data() + value.size();
      if (!whole || call.limit < 1 || call.limit > kLimitMax) {
        return fail(bad_query("limit", "must be a number from 1 to 100"));
      }
    } else if (name == "order") {
      if (value != "asc" && value != "desc") return fail(bad_query("order", "must be asc or desc"));
      call.oldest_first = value == "asc";
    } else if (name == "after") {
      if (!is_object_id(value)) return fail(bad_query("after", "must be the id of an item"));
      call.after = value;
    }
  }
  return {};
}

std::string deleted(std::string_view id, std::string_view object) {
  std::string out;
  wire::JsonWriter json(out);
  json.begin_object().member("id", id).member("object", object).member("deleted", true).end_object();
  return out;
}

std::string encoded(const Conversation& conversation) {
  std::string out;
  wire::JsonWriter json(out);
  json.begin_object().member("id", std::string_view(conversation.id)).member("object", "conversation");
  const auto created =
      std::chrono::duration_cast<std::chrono::seconds>(conversation.created.time_since_epoch());
  json.member("created_at", created.count());
  json.key("metadata").raw(conversation.metadata.empty() ? "{}" : conversation.metadata);
  json.end_object();
  return out;
}

std::string encoded(const ItemPage& page) {
  std::string out;
  wire::JsonWriter json(out);
  json.begin_object().member("object", "list").key("data").begin_array();
  for (const ConversationItem& item : page.items) json.raw(item.json);
  json.end_array();
  json.key("first_id");
  page.items.empty() ? json.null() : json.string(page.items.front().id);
  json.key("last_id");
  page.items.empty() ? json.null() : json.string(page.items.back().id);
  json.member("has_more", page.has_more).end_object();
  return out;
}

// A page of what stands in one text: the input of a kept response.
Result<ItemPage> page_of(std::string_view items, const StoredCall& call, std::string_view seed) {
  QQ_TRY(auto all, history::items_with_ids(items, seed));
  if (!call.oldest_first) std::ranges::reverse(all);
  auto from = all.begin();
  if (!call.after.empty()) {
    from = std::ranges::find(all, call.after, &history::TurnItem::id);
    if (from == all.end()) return fail(item_not_found(call.after));
    ++from;
  }
  ItemPage page;
  for (; from != all.end() && page.items.size() < call.limit; ++from) {
    page.items.push_back({std::move(from->id), std::move(from->json)});
  }
  page.has_more = from != all.end();
  return page;
}

// Items with ids, to be kept.
Result<std::vector<ConversationItem>> items_of(const history::ConversationBody& body, std::string_view seed) {
  std::vector<ConversationItem> out;
  if (!body.items.is_array()) return out;
  QQ_TRY(auto with_ids, history::items_with_ids(body.items.text(), seed));
  for (history::TurnItem& item : with_ids) out.push_back({std::move(item.id), std::move(item.json)});
  return out;
}

// One call of a client's, answered by the store.
class Serving {
 public:
  Serving(LoopServices& services, const IncomingRequest& incoming)
      : services_(services), incoming_(incoming), call_(*incoming.stored), store_(*services.responses) {}

  Task<Result<std::string>> answer(net::Scope scope) {
    const StoreCall at(services_.loop, incoming_.key->owner, services_.loop.wall_now(), scope);
    switch (call_.verb) {
      case StoredVerb::GetResponse: return get_response(at);
      case StoredVerb::DeleteResponse: return delete_response(at);
      case StoredVerb::ListInput: return list_input(at);
      case StoredVerb::CancelResponse: return cancel_response(at);
      case StoredVerb::CreateConversation: return create(at);
      case StoredVerb::GetConversation: return get(at);
      case StoredVerb::UpdateConversation: return update(at);
      case StoredVerb::DeleteConversation: return remove(at);
      case StoredVerb::ListItems: return list_items(at);
      case StoredVerb::AddItems: return add_items(at);
      case StoredVerb::GetItem: return get_item(at);
      case StoredVerb::DeleteItem: return delete_item(at);
    }
    std::unreachable();
  }

 private:
  [[nodiscard]] std::string_view seed() const { return incoming_.id.text(); }
  [[nodiscard]] ItemQuery query() const {
    ItemQuery query;
    query.after = call_.after;
    query.limit = call_.limit;
    query.order = call_.oldest_first ? ItemQuery::Order::OldestFirst : ItemQuery::Order::NewestFirst;
    return query;
  }

  Task<Result<std::string>> get_response(StoreCall at) {
    auto kept = co_await store_.get(at, call_.id);
    if (!kept) co_return fail(std::move(kept).error());
    co_return (*kept)->response;
  }
  Task<Result<std::string>> delete_response(StoreCall at) {
    Result<> removed = co_await store_.remove(at, call_.id);
    if (!removed) co_return fail(std::move(removed).error());
    co_return deleted(call_.id, "response.deleted");
  }
  Task<Result<std::string>> list_input(StoreCall at) {
    auto kept = co_await store_.get(at, call_.id);
    if (!kept) co_return fail(std::move(kept).error());
    auto page = page_of((*kept)->input, call_, call_.id);
    if (!page) co_return fail(std::move(page).error());
    co_return encoded(*page);
  }
  Task<Result<std::string>> cancel_response(StoreCall at) {
    auto kept = co_await store_.get(at, call_.id);
    if (!kept) co_return fail(std::move(kept).error());
    co_return fail(Error::client(ErrorKind::InvalidRequest,
                                 "only responses with background=true can be cancelled, and this is none"));
  }
  Task<Result<std::string>> create(StoreCall at) {
    auto body = history::read_conversation(incoming_.body);
    if (!body) co_return fail(std::move(body).error());
    auto items = items_of(*body, seed());
    if (!items) co_return fail(std::move(items).error());
    Conversation made;
    made.id = "conv_" + std::string(seed());
    made.created = at.now;
    made.metadata = std::move(body->metadata);
    Result<> created = co_await store_.create_conversation(at, made, *std::move(items));
    if (!created) co_return fail(std::move(created).error());
    co_return encoded(made);
  }
  Task<Result<std::string>> get(StoreCall at) {
    auto found = co_await store_.conversation(at, call_.id);
    if (!found) co_return fail(std::move(found).error());
    co_return encoded(*found);
  }
  Task<Result<std::string>> update(StoreCall at) {
    auto body = history::read_conversation(incoming_.body);
    if (!body) co_return fail(std::move(body).error());
    auto changed = co_await store_.set_metadata(at, call_.id, std::move(body->metadata));
    if (!changed) co_return fail(std::move(changed).error());
    co_return encoded(*changed);
  }
  Task<Result<std::string>> remove(StoreCall at) {
    Result<> removed = co_await store_.remove_conversation(at, call_.id);
    if (!removed) co_return fail(std::move(removed).error());
    co_return deleted(call_.id, "conversation.deleted");
  }
  Task<Result<std::string>> list_items(StoreCall at) {
    auto page = co_await store_.list_items(at, call_.id, query());
    if (!page) co_return fail(std::move(page).error());
    co_return encoded(*page);
  }
  Task<Result<std::string>> add_items(StoreCall at) {
    auto body = history::read_conversation(incoming_.body);
    if (!body) co_return fail(std::move(body).error());
    auto items = items_of(*body, seed());
    if (!items) co_return fail(std::move(items).error());
    ItemPage told;
    told.items = *items;
    Result<> added = co_await store_.append_items(at, call_.id, *std::move(items));
    if (!added) co_return fail(std::move(added).error());
    co_return encoded(told);
  }
  Task<Result<std::string>> get_item(StoreCall at) {
    auto found = co_await store_.item(at, call_.id, call_.item);
    if (!found) co_return fail(std::move(found).error());
    co_return std::move(found->json);
  }
  Task<Result<std::string>> delete_item(StoreCall at) {
    auto changed = co_await store_.remove_item(at, call_.id, call_.item);
    if (!changed) co_return fail(std::move(changed).error());
    co_return encoded(*changed);
  }

  LoopServices& services_;
  const IncomingRequest& incoming_;
  const StoredCall& call_;
  ResponseStore& store_;
};

Task<Result<std::string>> asked_of_store(LoopServices& services, const IncomingRequest& incoming,
                                         net::Scope scope) {
  if (services.responses == nullptr) {
    co_return fail(Error::client(ErrorKind::NotFound, "this gateway keeps no responses (storage.responses)"));
  }
  Serving serving(services, incoming);
  Result<std::string> answer = co_await serving.answer(scope);
  co_return answer;
}

}  // namespace

std::string_view stored_methods(std::string_view path) noexcept {
  if (is_other_endpoint(path)) return {};
  std::array<std::string_view, 2> segments;
  const auto has = [&](std::string_view method) {
    return std::ranges::any_of(kForms, [&](const Form& form) {
      return form.method == method && matches_form(form.path, path, segments);
    });
  };
  if (has("GET"))
    return has("POST") ? (has("DELETE") ? "GET, POST, DELETE" : "GET, POST")
                       : (has("DELETE") ? "GET, DELETE" : "GET");
  return has("POST") ? "POST" : "";
}

std::optional<Result<StoredCall>> stored_call(const wire::RequestHead& head) {
  const std::string_view path = head.path();
  if (is_other_endpoint(path)) return std::nullopt;
  for (const Form& form : kForms) {
    std::array<std::string_view, 2> segments;
    if (head.method != form.method || !matches_form(form.path, path, segments)) continue;
    StoredCall call;
    call.verb = form.verb;
    call.method = form.method;
    call.path = form.path;
    call.id = segments[0];
    call.item = segments[1];
    if (Result<> read = read_query(head.query(), call); !read) return fail(std::move(read).error());
    return Result<StoredCall>(std::move(call));
  }
  return std::nullopt;
}

Task<void> serve_stored(LoopServices& services, IncomingRequest incoming, ClientPort& client) {
  services.counters.requests_in_flight.add(1);
  RequestState state(services, client, incoming);
  state.deadline = incoming.started + state.snapshot.timers.total;
  incoming.body_bytes = incoming.body.size();
  const net::Scope asking = state.scope().until(services.loop.now() + kStoreWait);
  Result<std::string> answer = co_await asked_of_store(services, incoming, asking);
  int status = 200;
  std::string body;
  std::string lines;
  if (answer) {
    body = *std::move(answer);
    lines = "content-type: application/json\r\nx-request-id: " + std::string(incoming.id.text()) + "\r\n";
  } else {
    state.error = std::move(answer).error();
    auto told = encode_error(model::Dialect::OpenAiResponses, *state.error, incoming.id.text());
    status = told.status;
    body = std::move(told.body);
    lines = error_header_lines(model::Dialect::OpenAiResponses, incoming.id.text(), {}, {}, *state.error);
  }
  const std::string_view piece = body;
  if (client.reply(status, lines, {&piece, 1}) == ClientPort::Taken::Pending) {
    Result<> flushed = co_await client.flush(state.scope());
    if (!flushed) state.error = std::move(flushed).error();
  }
  incoming.free_body();
  settle(state);
  services.counters.requests_in_flight.add(-1);
}

}  // namespace qq::relay
