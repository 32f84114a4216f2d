// What clients ask of the store itself: responses that were kept, and conversations.
//
//   GET, DELETE  /v1/responses/{id}                       GET /v1/responses/{id}/input_items
//   POST         /v1/conversations                        GET, POST, DELETE /v1/conversations/{id}
//   GET, POST    /v1/conversations/{id}/items             GET, DELETE /v1/conversations/{id}/items/{item}
//
// Source: openai-openapi openapi.yaml, "Responses" and "Conversations". Ours differs: a response is not
// streamed again (`stream=true` of a GET is ignored), and none is in the background, so none can be
// cancelled.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/task.h"
#include "relay/request.h"
#include "wire/http_head.h"

namespace qq::relay {

struct StoredCall {
  enum class Verb : std::uint8_t {
    GetResponse,
    DeleteResponse,
    ListInput,
    CancelResponse,
    CreateConversation,
    GetConversation,
    UpdateConversation,
    DeleteConversation,
    ListItems,
    AddItems,
    GetItem,
    DeleteItem,
  };
  Verb verb = Verb::GetResponse;
  std::string_view method;  // static texts, for logs
  std::string_view path;
  std::string id;
  std::string item;
  std::string after;
  std::size_t limit = 20;
  bool oldest_first = false;
};

// Whether a path is one of these, and with which methods it is asked: "GET, DELETE", or empty for other
// paths.
std::string_view stored_methods(std::string_view path) noexcept;
// Nothing for other paths and methods. Errors: InvalidRequest for a query that says nothing we know.
std::optional<Result<StoredCall>> stored_call(const wire::RequestHead& head);

// Answers the client, whatever happens, and records the request.
Task<void> serve_stored(LoopServices& services, IncomingRequest incoming, ClientPort& client);

}  // namespace qq::relay
